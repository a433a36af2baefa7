// A provider of responses and chat completions that says `word` after `word` at an even pace.
//   node soak-upstream.ts PORT
// The model's name says how many words and how many milliseconds apart: `words-60-300`.
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { Json } from '../../engine/index.ts'
import { chatFrames, responsesFrames } from '../service/streams.ts'

createServer({ requestTimeout: 0, keepAliveTimeout: 65_000 }, (request, response) => {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () => {
    const { model } = JSON.parse(Buffer.concat(parts).toString()) as { model: string }
    const [, count, pace] = model.split('-')
    const words = Array.from({ length: Number(count) }, () => 'word ')
    const frames = request.url === '/v1/responses' ? responsesFrames(...words) : chatFrames(...words)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    speak(
      response,
      frames.map((frame) => (typeof frame === 'string' ? `data: ${frame}\n\n` : written(frame))),
      Number(pace),
    )
  })
}).listen({ port: Number(process.argv[2]), host: '127.0.0.1', backlog: 4096 })

function written({ event, data }: { readonly event?: string; readonly data: Json }): string {
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`
}

function speak(response: ServerResponse, frames: string[], pace: number): void {
  const timer = setInterval(() => {
    const frame = frames.shift()
    if (frame === undefined) response.end()
    else response.write(frame)
  }, pace)
  response.on('close', () => clearInterval(timer))
}
