import { expect } from 'chai'
import type { Json } from '../../../engine/index.ts'
import { gather } from '../../../plugins/counting/gather.ts'
import { images } from './images.ts'

const user = (...content: Json[]) => ({ model: 'm', messages: [{ role: 'user', content }] })
const image = (bytes: Buffer) => ({
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: bytes.toString('base64') },
})
const pdf = (bytes: number) => ({
  type: 'document',
  source: { type: 'base64', media_type: 'application/pdf', data: Buffer.alloc(bytes).toString('base64') },
})
const gathered = (body: ReturnType<typeof user>) => ({ ...gather(body) })

describe('gather', () => {
  it('takes system, messages and tools, in order', () => {
    const tools = [{ name: 'get', input_schema: { type: 'object' } }]
    const body = {
      model: 'm',
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      messages: [
        { role: 'user', content: 'Hi' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm.', signature: 'c2VjcmV0' },
            { type: 'redacted_thinking', data: 'c2VjcmV0' },
            { type: 'text', text: 'Wait.' },
            { type: 'tool_use', id: 't1', name: 'get', input: { data: 'kept' } },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 't1',
              content: [{ type: 'text', text: '42' }, image(images.png(750, 2))],
            },
          ],
        },
      ],
      tools,
    }
    expect({ ...gather(body) }).to.deep.equal({
      texts: [
        'Be brief.',
        'user',
        'Hi',
        'assistant',
        'Hm.',
        'Wait.',
        'get',
        '{"data":"kept"}',
        'user',
        '42',
        JSON.stringify(tools),
      ],
      media: 2,
    })
    expect(gather({ system: 'Be brief.', messages: [], tools: [] }).texts).to.deep.equal(['Be brief.'])
  })

  it('counts an image by its size, never by its base64', () => {
    const large = Buffer.concat([images.png(200, 200), Buffer.alloc(3_000_000)])
    expect(gathered(user(image(large)))).to.deep.equal({ texts: ['user'], media: 54 })
    expect(gather(user(image(images.png(1, 1)))).media).to.equal(1)
    expect(gather(user(image(images.jpeg(1092, 1092)))).media).to.equal(1590)
    expect(gather(user(image(images.png(8000, 8000)))).media).to.equal(1600)
  })

  it('takes an image of unknown size for a large one', () => {
    const sources: Json[] = [
      { type: 'url', url: 'https://host/x.png' },
      { type: 'base64', data: '!!!' },
      { type: 'file', file_id: 'f' },
      null,
    ]
    for (const source of sources) expect(gather(user({ type: 'image', source })).media).to.equal(1600)
  })

  it('counts a PDF by its length, and other documents by their text', () => {
    expect(gather(user(pdf(100))).media).to.equal(2000)
    expect(gather(user(pdf(100_000))).media).to.equal(8000)
    expect(gather(user(pdf(10_000_000))).media).to.equal(200_000)
    expect(gather(user({ type: 'document', source: { type: 'url', url: 'https://host/x.pdf' } })).media).to.equal(
      20_000,
    )
    const plain = {
      type: 'document',
      title: 'T',
      context: 'C',
      source: { type: 'text', media_type: 'text/plain', data: 'D' },
    }
    const blocks = {
      type: 'document',
      source: { type: 'content', content: [{ type: 'text', text: 'B' }, image(images.gif(75, 10))] },
    }
    expect(gathered(user(plain, blocks))).to.deep.equal({ texts: ['user', 'T', 'C', 'D', 'B'], media: 1 })
  })

  it('takes the fields of unknown blocks without what is sealed, and looks into their content', () => {
    const result = {
      type: 'web_search_tool_result',
      tool_use_id: 's1',
      content: [{ type: 'web_search_result', title: 'T', encrypted_content: 'x'.repeat(1000) }],
    }
    const fetched = { type: 'fetch_result', content: { type: 'document', source: { type: 'text', data: 'page' } } }
    expect(gathered(user(result, fetched))).to.deep.equal({
      texts: [
        'user',
        '{"type":"web_search_tool_result","tool_use_id":"s1"}',
        '{"type":"web_search_result","title":"T"}',
        '{"type":"fetch_result"}',
        'page',
      ],
      media: 0,
    })
  })
})
