import { shared } from '../words.ts'
import { Button } from './Button.tsx'
import { useCopied } from './useCopied.ts'

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
  const [copied, copy] = useCopied()
  const name = what === undefined ? shared.copy : shared.copyNamed(what)
  return (
    <Button
      look={look}
      small={look === 'quiet'}
      icon={copied ? 'check' : 'copy'}
      aria-label={copied ? undefined : name}
      title={name}
      onClick={() => copy(text)}
    >
      {copied ? shared.copied : named ? name : undefined}
      <span className="visually-hidden" role="status">
        {copied && shared.copied}
      </span>
    </Button>
  )
}
