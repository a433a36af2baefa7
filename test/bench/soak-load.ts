import { Agent, request } from 'node:http'
import { WebSocket } from 'ws'
import { benchKey } from './targets.ts'

/** What the clients of a soak see, all of them together. */
export class Seen {
  /** Answers under way, and most of them at once. */
  open = 0
  most = 0
  turns = 0
  readonly errors = new Map<string, number>()

  begin(): void {
    this.open++
    this.most = Math.max(this.most, this.open)
  }

  end(): void {
    this.open--
    this.turns++
  }

  fail(what: string): void {
    this.errors.set(what, (this.errors.get(what) ?? 0) + 1)
  }
}

export interface Load {
  readonly port: number
  readonly seen: Seen
}

const agent = new Agent({ maxSockets: Infinity })

/** Reads one streamed answer to its end, and checks that every word of it arrived. */
export function stream(model: string, words: number, { port, seen }: Load): Promise<void> {
  const headers = { authorization: `Bearer ${benchKey}`, 'content-type': 'application/json' }
  return new Promise((resolve) => {
    const over = (error?: string) => {
      if (error !== undefined) seen.fail(`stream of ${model}: ${error}`)
      resolve()
    }
    const sent = request(
      { agent, host: '127.0.0.1', port, path: '/v1/responses', method: 'POST', headers },
      (answer) => {
        let text = ''
        if (answer.statusCode !== 200) over(`status ${answer.statusCode}`)
        seen.begin()
        answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        answer.on('close', () => {
          seen.end()
          over(flaw(text, words))
        })
      },
    )
    sent.on('error', (error) => over(error.message))
    sent.end(JSON.stringify({ model, input: 'Speak.', stream: true }))
  })
}

/** Takes turns on one WebSocket, each a continuation of the one before, and closes it. */
export function socket(model: string, words: number, turns: number, { port, seen }: Load): Promise<void> {
  return new Promise((resolve) => {
    const peer = new WebSocket(`ws://127.0.0.1:${port}/v1/responses`, {
      headers: { authorization: `Bearer ${benchKey}` },
    })
    let left = turns
    let text = ''
    let previous: string | undefined
    let answering = false
    const ask = () => {
      text = ''
      answering = true
      seen.begin()
      const chained = previous === undefined ? {} : { previous_response_id: previous }
      peer.send(JSON.stringify({ type: 'response.create', model, input: 'Speak.', ...chained }))
    }
    peer.on('open', ask)
    peer.on('message', (data: Buffer) => {
      const event = JSON.parse(data.toString()) as { type: string; response?: { id: string } }
      text += `data: ${data.toString()}\n\n`
      if (event.type !== 'response.completed' && event.type !== 'error') return
      answering = false
      seen.end()
      const wrong = flaw(`${text}data: [DONE]\n\n`, words)
      if (wrong !== undefined) seen.fail(`socket of ${model}: ${wrong}`)
      previous = event.response?.id
      if (--left > 0) ask()
      else peer.close()
    })
    peer.on('error', (error) => seen.fail(`socket of ${model}: ${error.message}`))
    peer.on('close', () => {
      if (answering) seen.end()
      if (left > 0) seen.fail(`socket of ${model}: closed early`)
      resolve()
    })
  })
}

function flaw(text: string, words: number): string | undefined {
  const said = text.split('"type":"response.output_text.delta"').length - 1
  if (said !== words) return `${said} of ${words} words`
  if (!text.includes('"type":"response.completed"')) return 'no end'
  return text.trimEnd().endsWith('data: [DONE]') ? undefined : 'no [DONE]'
}
