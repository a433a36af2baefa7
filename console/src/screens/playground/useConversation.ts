import { useEffect, useRef, useState } from 'react'
import type { Turn } from './protocols.ts'
import { send } from './send.ts'
import type { Message, Progress } from './send.ts'

/** A conversation with one model. */
export interface Talk {
  readonly turns: readonly Turn[]
  /** The answer under way, or the last one; `null` before the first. */
  readonly progress: Progress | null
  readonly busy: boolean
  readonly say: (text: string, message: Omit<Message, 'turns'>, key: string) => Promise<void>
  readonly stop: () => void
  readonly clear: () => void
}

export function useConversation(): Talk {
  const [turns, setTurns] = useState<readonly Turn[]>([])
  const [progress, setProgress] = useState<Progress | null>(null)
  const running = useRef<AbortController | null>(null)
  // Nobody reads on when the page is left.
  useEffect(() => () => running.current?.abort(), [])

  async function say(text: string, message: Omit<Message, 'turns'>, key: string): Promise<void> {
    const control = new AbortController()
    running.current?.abort()
    running.current = control
    const question: Turn = { role: 'user', text, model: message.model }
    const asked = [...turns, question]
    const sent = [...turns.filter(answered), question]
    setTurns(asked)
    let last: Progress = {
      text: '',
      firstText: null,
      took: 0,
      outputTokens: null,
      model: null,
      requestId: null,
      error: null,
      done: false,
    }
    setProgress(last)
    for await (const step of send({ ...message, turns: sent }, key, control.signal)) setProgress((last = step))
    if (running.current !== control) return
    running.current = null
    if (last.text) setTurns([...asked, { role: 'assistant', text: last.text, model: message.model }])
  }

  return {
    turns,
    progress,
    busy: progress !== null && !progress.done,
    say,
    stop: () => running.current?.abort(),
    clear: () => {
      running.current?.abort()
      running.current = null
      setTurns([])
      setProgress(null)
    },
  }
}

/** A question without an answer stays on the page, but the next request does not send it again. */
function answered(turn: Turn, index: number, turns: readonly Turn[]): boolean {
  return turn.role === 'assistant' || turns[index + 1]?.role === 'assistant'
}
