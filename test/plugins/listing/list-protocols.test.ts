import { expect } from 'chai'
import { ExchangeScope } from '../../../engine/http/scope.ts'
import listProtocols from '../../../plugins/listing/list-protocols.ts'
import { ask, host } from './ask.ts'

describe('plugins/listing/list-protocols', () => {
  it('lists the protocols that are served, with their paths', () => {
    const routes = (protocol: string): readonly string[] => (protocol === 'chat' ? ['/v1/chat/completions'] : [])
    const { reply } = listProtocols.build({}, { ...host, routes })({}, new ExchangeScope()) as {
      reply: { body: unknown }
    }
    expect(reply.body).to.deep.equal({
      kind: 'json',
      value: {
        object: 'list',
        data: [{ protocol: 'chat', operation: 'generate', summary: 'Chat.', paths: ['/v1/chat/completions'] }],
      },
    })
  })

  it('lists nothing where the gateway knows no paths', () => {
    expect(ask(listProtocols)).to.deep.equal({ object: 'list', data: [] })
  })
})
