import { expect } from 'chai'
import type { JsonObject, PrintTarget } from '../../engine/index.ts'
import { target } from '../plugins/responses/exchange.ts'
import { upstreams } from './upstreams.ts'

/** A request of each protocol that names a file by its id. */
const asked: Readonly<Record<string, JsonObject>> = {
  chat: { model: 'm', messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }] },
  messages: {
    model: 'm',
    max_tokens: 9,
    messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: 'file-1' } }] }],
  },
  responses: { model: 'm', input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] }] },
  gemini: {
    contents: [{ parts: [{ fileData: { mimeType: 'application/pdf', fileUri: 'files/file-1' } }] }],
  },
}

/** Protocols of one files API. */
const family = (protocol: string) => (protocol === 'messages' || protocol === 'gemini' ? protocol : 'others')

describe('the id of a file', () => {
  for (const client of upstreams.filter(({ name }) => name.endsWith('plain')))
    for (const { name, codec, traits } of upstreams.filter(({ codec, traits }) => codec.protocol !== 'chat' || traits['files'])) {
      const from = client.codec.protocol
      const same = family(from) === family(codec.protocol)
      it(`of ${from} ${same ? 'goes on to' : 'is a named loss for'} ${name}`, () => {
        const request = client.codec.request.parse(asked[from] ?? {})
        const offer = { operation: 'generate', protocol: codec.protocol, traits } as PrintTarget['offer']
        const { body, losses } = codec.request.print(request, { ...target(), offer })
        expect(JSON.stringify(body).includes('file-1')).to.equal(same)
        const lost = losses.some(({ field }) => field.endsWith('file_id'))
        expect(lost).to.equal(!same)
        if (!same) expect(JSON.stringify(body)).to.include('[file omitted]')
      })
    }
})
