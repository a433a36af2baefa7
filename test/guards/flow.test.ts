import { expect } from 'chai'
import { FrameDecoder } from '../../engine/kit.ts'
import { Rig, streamOf } from './rig.ts'

const side = ['input', 'output'] as const
const guards = ['pii', 'secrets'].map((kind) => ({ name: kind, kind, side }))

/** A guard as a row tells of it. */
interface Told {
  readonly name: string
  readonly side: string
  readonly windows: number
}

describe('guards: text that flows', () => {
  const rig = new Rig(() => ({ records: { guards } }))
  const framesOf = (text: readonly string[]) =>
    streamOf.chat({ text }).map(({ event, data }) => `${event ? `event: ${event}\n` : ''}data: ${data}\n\n`)
  const ask = () =>
    rig.gateway.post('/v1/chat/completions', {
      model: 'chat',
      stream: true,
      messages: [{ role: 'user', content: 'Hi' }],
    })
  const windowsOf = async () => {
    const rows = await rig.gateway.rows(1)
    const { guards: told } = JSON.parse(rows.at(-1)?.metadata ?? '') as { readonly guards: readonly Told[] }
    return told.filter((one) => one.side === 'output').map(({ windows }) => windows)
  }
  const contentIn = (text: string) => {
    const decoder = new FrameDecoder()
    return [...decoder.push(Buffer.from(text)), ...decoder.end()]
      .filter(({ data }) => data !== '[DONE]')
      .map(({ data }) => (JSON.parse(data) as { choices: { delta: { content?: string } }[] }).choices[0]?.delta.content)
      .join('')
  }

  it('ends before the first character of what is denied, however much comes at once', async () => {
    const words = 'Write to Ann, that is '
    for (const pieces of [
      [`${words}ann@example.com or +41 44 668 18 00, at once.`],
      `${words}ann@example.com.`.split(''),
    ])
      for (const chunks of [[framesOf(pieces).join('')], framesOf(pieces)]) {
        rig.upstream.answer({ headers: { 'content-type': 'text/event-stream' }, chunks })
        const text = await (await ask()).text()
        expect(contentIn(text)).to.equal(words)
        expect(text)
          .to.contain('"finish_reason":"content_filter"')
          .and.to.match(/\[DONE\]\s*$/)
      }
  })

  it('comes before the upstream has ended, but for as much as a match may have', async () => {
    const pieces = Array.from({ length: 100 }, (_, number) => `piece ${number} and `)
    const frames = framesOf(pieces)
    const more = Promise.withResolvers<undefined>()
    async function* chunks() {
      yield frames.slice(0, 90).join('')
      await more.promise
      yield frames.slice(90).join('')
    }
    rig.upstream.answer({ headers: { 'content-type': 'text/event-stream' }, chunks: chunks() })
    const response = await ask()
    let given = ''
    const decoder = new TextDecoder()
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      given += decoder.decode(chunk, { stream: true })
      // 89 pieces came, and the two guards hold fewer than 256 characters each.
      if (contentIn(given).length >= pieces.slice(0, 89).join('').length - 2 * 255) more.resolve(undefined)
    }
    expect(contentIn(given)).to.equal(pieces.join(''))
  })

  it('is judged together where it came together', async () => {
    const pieces = Array.from({ length: 2_000 }, (_, number) => String(number).padStart(4, 'x'))
    const body = framesOf(pieces).join('')
    rig.upstream.answer({ headers: { 'content-type': 'text/event-stream' }, chunks: [body] })
    expect(contentIn(await (await ask()).text())).to.equal(pieces.join(''))
    // As many judgements as there were reads of the socket, not as there were events.
    for (const windows of await windowsOf()) expect(windows).to.be.within(1, 100)
  })
})
