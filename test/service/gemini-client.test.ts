import { FunctionCallingConfigMode, Type } from '@google/genai'
import type { Content, GenerateContentParameters, GenerateContentResponse } from '@google/genai'
import { expect } from 'chai'
import { decoded, text } from '../golden/files.ts'
import { pairs } from '../golden/pairs.ts'
import { Session } from '../golden/session.ts'
import { genai } from '../support/genai.ts'

const upstreams = pairs.gemini.filter(({ requestsOnly }) => !requestsOnly)
const functionDeclarations = [
  {
    name: 'weather',
    description: 'Tells the weather.',
    parameters: {
      type: Type.OBJECT,
      properties: { city: { type: Type.STRING, nullable: true }, days: { type: Type.INTEGER } },
      required: ['city'],
    },
  },
  { name: 'time' },
]
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** Google's own client, with a provider of each kind behind the gateway. */
describe('a gemini client', () => {
  const session = new Session()
  const models = () => genai(session.gateway).models

  /** An answer, whole or as the chunks of its stream. */
  async function chunksOf(request: GenerateContentParameters, stream: boolean): Promise<GenerateContentResponse[]> {
    if (!stream) return [await models().generateContent(request)]
    const chunks: GenerateContentResponse[] = []
    for await (const chunk of await models().generateContentStream(request)) chunks.push(chunk)
    return chunks
  }

  const answers = (name: string, protocol: (typeof upstreams)[number]['protocol'], stream: boolean) =>
    stream
      ? session.answer(text(`answers/${name}.${protocol}.frames.txt`), protocol)
      : session.answer(text(`answers/${name}.${protocol}.json`))

  for (const { name: model, protocol } of upstreams)
    for (const stream of [false, true]) {
      const way = `${model}, ${stream ? 'streamed' : 'whole'}`

      it(`gets text, the reason it ended, usage and the model: ${way}`, async () => {
        answers('length', protocol, stream)
        const chunks = await chunksOf({ model, contents: 'Hello', config: { maxOutputTokens: 5 } }, stream)
        const last = chunks.at(-1)
        expect(chunks.map((chunk) => chunk.text ?? '').join('')).to.not.equal('')
        expect(last?.candidates?.[0]?.finishReason).to.equal('MAX_TOKENS')
        expect(chunks.slice(0, -1).filter(({ candidates }) => candidates?.[0]?.finishReason)).to.deep.equal([])
        expect(last?.usageMetadata?.totalTokenCount).to.equal(
          (last?.usageMetadata?.promptTokenCount ?? 0) +
            (last?.usageMetadata?.candidatesTokenCount ?? 0) +
            (last?.usageMetadata?.thoughtsTokenCount ?? 0),
        )
        expect(last?.modelVersion).to.be.a('string').and.not.equal('')
        const row = (await session.gateway.rows()).at(-1)
        expect(row).to.include({ type: 'gemini', model, status: 200, result: 'completed' })
        expect(row?.output_tokens).to.equal(
          (last?.usageMetadata?.candidatesTokenCount ?? 0) + (last?.usageMetadata?.thoughtsTokenCount ?? 0),
        )
      })

      it(`gets parallel calls, and brings back their results: ${way}`, async () => {
        answers('tools', protocol, stream)
        const asked: Content = { role: 'user', parts: [{ text: 'How is it in Zürich?' }] }
        const config = {
          systemInstruction: 'Be brief.',
          tools: [{ functionDeclarations }],
          toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.ANY } },
        }
        const chunks = await chunksOf({ model, contents: [asked], config }, stream)
        const calls = chunks.flatMap(({ functionCalls }) => functionCalls ?? [])
        expect(calls.map(({ name, args }) => [name, args])).to.deep.equal([
          ['weather', { city: 'Zürich' }],
          ['time', {}],
        ])
        expect(chunks.at(-1)?.candidates?.[0]?.finishReason).to.equal('STOP')
        const sent = JSON.stringify(session.asked())
        expect(sent).to.contain('Be brief.').and.contain('Tells the weather.')
        if (protocol !== 'gemini') expect(sent).to.not.contain('"OBJECT"').and.not.contain('"nullable"')

        answers('length', protocol, stream)
        const said = chunks.flatMap(({ candidates }) => candidates?.[0]?.content ?? [])
        const results = calls.map(({ id, name, args }) => ({
          functionResponse: {
            ...(id === undefined ? {} : { id }),
            name: String(name),
            response: { output: `of ${name}`, args },
          },
        }))
        await chunksOf({ model, contents: [asked, ...said, { role: 'user', parts: results }], config }, stream)
        const replayed = JSON.stringify(session.asked())
        for (const word of ['of weather', 'of time', 'Zürich', 'look.']) expect(replayed).to.contain(word)
        if (protocol !== 'gemini') for (const { id } of calls) expect(replayed.split(`"${id}"`).length).to.equal(3)
      })
    }

  for (const { name: model, protocol } of upstreams)
    it(`chats in streams, and brings thoughts back with what signed them: ${model}`, async () => {
      const chat = genai(session.gateway).chats.create({
        model,
        config: { thinkingConfig: { includeThoughts: true }, tools: [{ functionDeclarations }] },
      })
      answers('reasoning', protocol, true)
      const chunks: GenerateContentResponse[] = []
      for await (const chunk of await chat.sendMessageStream({ message: 'Rome or Oslo?' })) chunks.push(chunk)
      const parts = chunks.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? [])
      const thoughts = parts.flatMap(({ thought, text: said }) => (thought ? [said] : []))
      expect(thoughts.join('')).to.contain('I need both cities.')
      const calls = chunks.flatMap(({ functionCalls }) => functionCalls ?? [])
      expect(calls.map(({ args }) => args)).to.deep.equal([{ city: 'Rome' }, { city: 'Oslo' }])
      expect(chat.getHistory(true)).to.have.length.greaterThan(1)

      answers('length', protocol, true)
      const message = calls.map(({ id, name }) => ({
        functionResponse: { ...(id === undefined ? {} : { id }), name: String(name), response: { output: 'sunny' } },
      }))
      for await (const chunk of await chat.sendMessageStream({ message })) expect(chunk).to.be.an('object')
      const sent = decoded(JSON.stringify(session.asked()))
      const seals = {
        chat: ['I need both cities.'],
        messages: ['sig+up/1==', 'RED/up+2=='],
        responses: ['gAAAA+up/1=='],
        gemini: ['c2lnMQ==', 'c2lnMg=='],
        converse: ['sig+up/1==', 'RED/up+2=='],
      }
      for (const seal of seals[protocol]) expect(sent).to.contain(seal)
      expect(sent).to.not.contain('gw1.')
    })

  for (const { name: model, protocol } of upstreams)
    it(`sends images, and asks for JSON of a schema: ${model}`, async () => {
      answers('full', protocol, false)
      const answer = await models().generateContent({
        model,
        contents: [{ text: 'What is it?' }, { inlineData: { mimeType: 'image/png', data: pixel } }],
        config: {
          responseMimeType: 'application/json',
          responseSchema: { type: Type.OBJECT, properties: { animal: { type: Type.STRING } }, required: ['animal'] },
        },
      })
      expect(JSON.parse(answer.text ?? '')).to.deep.equal({ animal: 'cat ☃😀' })
      const sent = JSON.stringify(session.asked())
      expect(sent).to.contain(pixel)
      if (protocol !== 'converse') expect(sent).to.contain('"animal"')
      if (protocol === 'chat' || protocol === 'responses' || protocol === 'messages')
        expect(sent).to.contain('json_schema').and.contain('"type":"object"').and.not.contain('OBJECT')
    })

  it('is relayed byte by byte to a provider that speaks the same', async () => {
    answers('full', 'gemini', false)
    const given = '{ "contents" : [ {"parts":[{"text":"Hi"}]} ],\n "futureField":{"a":1.0} }'
    const response = await fetch(`${session.gateway.url}/v1beta/models/gemini:generateContent`, {
      method: 'POST',
      headers: { 'x-goog-api-key': session.gateway.key, 'content-type': 'application/json' },
      body: given,
    })
    expect(await response.text()).to.equal(text('answers/full.gemini.json'))
    const asked = session.upstream.requests.at(-1)
    expect(String(asked?.body)).to.equal(given)
    expect(asked?.path).to.equal('/v1beta/models/upstream-1:generateContent')
    expect(asked?.headers['x-goog-api-key']).to.equal('key')
  })

  it('may ask under /v1, too', async () => {
    answers('length', 'chat', false)
    const answer = await genai(session.gateway, 'v1').models.generateContent({ model: 'compatible', contents: 'Hi' })
    expect(answer.text).to.be.a('string').and.not.equal('')
  })

  it('reads no [DONE] at the end of a stream', async () => {
    answers('length', 'chat', true)
    const { text: stream, headers } = await session.ask('gemini', 'compatible', { stream: true })
    expect(headers.get('content-type')).to.contain('text/event-stream')
    expect(stream).to.contain('"finishReason"').and.not.contain('[DONE]')
  })
})
