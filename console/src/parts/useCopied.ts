import { useEffect, useState } from 'react'
import { shared } from '../words.ts'
import { toastError } from './toast.tsx'

/** Copies a text, and tells for a moment that it did. */
export function useCopied(): readonly [isCopied: boolean, copy: (text: string) => void] {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), 1500)
    return () => clearTimeout(timer)
  }, [isCopied])
  return [isCopied, (text) => void write(text).then(() => setCopied(true), toastError)]
}

/** Pages without TLS have no clipboard (W3C Clipboard API, section 4), but a command that copies what is selected. */
async function write(text: string): Promise<void> {
  if (isSecureContext) return navigator.clipboard.writeText(text)
  const focused = document.activeElement
  const field = document.createElement('textarea')
  field.value = text
  // Outside of an open dialog, nothing can be selected.
  const place = focused?.closest('dialog') ?? document.body
  place.append(field)
  field.select()
  const isDone = document.execCommand('copy')
  field.remove()
  if (focused instanceof HTMLElement) focused.focus()
  if (!isDone) throw new Error(shared.notCopied)
}
