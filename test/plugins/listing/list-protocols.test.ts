import { expect } from 'chai'
import { ExchangeScope } from '../../../engine/http/scope.ts'
import listProtocols from '../../../plugins/listing/list-protocols.ts'
import { ask, host } from './ask.ts'

describe('plugins/listing/list-protocols', () => {
  it('lists every protocol with its paths', () => {
    const routes = (protocol: string): readonly string[] => (protocol === 'chat' ? ['/v1/chat/completions'] : [])
    const { reply } = listProtocols.build({}, { ...host, routes })({}, new ExchangeScope()) as {
      reply: { body: unknown }
    }
    expect(reply.body).to.deep.equal({
      kind: 'json',
      value: {
        object: 'list',
        data: [
          { protocol: 'chat', operation: 'generate', summary: 'Chat.', paths: ['/v1/chat/completions'] },
          { protocol: 'vectors', operation: 'embed', summary: 'Vectors.', paths: [] },
        ],
      },
    })
  })

  it('lists no paths where the house knows none', () => {
    expect(ask(listProtocols)).to.have.nested.property('data[0].paths').that.deep.equals([])
  })
})
