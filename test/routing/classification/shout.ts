import type { Ask, Vote } from 'sluice'

/** The text says what the signal of the tests does. */
export default function shout({ text }: Ask): Vote {
  if (text.includes('LOOP')) for (;;);
  if (text.includes('THROW')) throw new Error('too loud')
  const loud = text !== '' && text === text.toUpperCase()
  return { complexity: loud ? 0.9 : 0.1, confidence: loud ? 1 : 0, reasons: loud ? ['capitals'] : [] }
}
