import { useEffect, useState } from 'react'
import { shared } from '../words.ts'
import { Button } from './Button.tsx'

interface CopyButtonProps {
  readonly text: string
  /** What is copied, for the button's name: "Copy request id". */
  readonly what?: string
  /** Shows the name beside the picture. */
  readonly named?: boolean
  readonly look?: 'quiet' | 'plain'
}

/** Copies a text, and says so in its own place for a moment. */
export function CopyButton({ text, what, named = false, look = 'quiet' }: CopyButtonProps) {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 1500)
    return () => clearTimeout(timer)
  }, [copied])
  const name = what === undefined ? shared.copy : shared.copyNamed(what)
  const copy = () => void navigator.clipboard.writeText(text).then(() => setCopied(true))
  return (
    <Button
      look={look}
      small={look === 'quiet'}
      icon={copied ? 'check' : 'copy'}
      aria-label={name}
      title={name}
      onClick={copy}
    >
      {copied ? shared.copied : named ? name : undefined}
      <span className="visually-hidden" role="status">
        {copied && shared.copied}
      </span>
    </Button>
  )
}
