import { expect } from 'chai'
import { clientAddress } from '../../../engine/http/edge.ts'
import { rangesOf } from '../../../engine/config/address-ranges.ts'
import { startStub } from './stub.ts'

const addressOf = (peer: string, forwarded?: string, trusted = ['10.0.0.0/8', 'fd00::/8', '192.0.2.7']) => {
  const proxies = rangesOf(trusted)
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
  return clientAddress({ socket: { remoteAddress: peer }, headers } as never, proxies ? { proxies } : {})
}

describe('the address of a client', () => {
  it('is that of its connection, unless a trusted proxy is connected', () => {
    expect(addressOf('203.0.113.9', '1.2.3.4')).to.equal('203.0.113.9')
    expect(addressOf('10.1.2.3')).to.equal('10.1.2.3')
    expect(addressOf('10.1.2.3', '1.2.3.4', [])).to.equal('10.1.2.3')
  })

  it('is the last one forwarded that no trusted proxy has, whatever stands before it', () => {
    expect(addressOf('10.1.2.3', '1.2.3.4')).to.equal('1.2.3.4')
    expect(addressOf('::ffff:10.1.2.3', '6.6.6.6, 1.2.3.4, 192.0.2.7')).to.equal('1.2.3.4')
    expect(addressOf('fd00::1', '6.6.6.6, 2001:db8::1')).to.equal('2001:db8::1')
    expect(addressOf('10.1.2.3', '6.6.6.6, 1.2.3.4:5678')).to.equal('1.2.3.4')
    expect(addressOf('10.1.2.3', '[2001:db8::1]:80')).to.equal('2001:db8::1')
  })

  it('is that of the proxy where nothing legible was forwarded', () => {
    for (const forwarded of ['', 'unknown', '1.2.3.4, unknown', '300.1.1.1', ','])
      expect(addressOf('10.1.2.3', forwarded), forwarded).to.equal('10.1.2.3')
    expect(addressOf('10.1.2.3', '10.9.9.9')).to.equal('10.9.9.9')
  })

  it('is what stages see', async function () {
    this.timeout(300_000)
    const pipelines =
      'endpoints: [{ name: things, summary: Things., public: true, routes: [GET /things], stages: [stub] }]'
    const seen = async (trusted: readonly string[]) => {
      const gateway = await startStub(pipelines, { server_config: { security: { trusted_proxies: trusted } } })
      try {
        gateway.answer(({ ingress }) => ({ status: 200, headers: {}, body: { kind: 'json', value: ingress.remote } }))
        const response = await fetch(`${gateway.url}/things`, { headers: { 'x-forwarded-for': '203.0.113.9' } })
        return await response.json()
      } finally {
        await gateway.close()
      }
    }
    expect(await seen([])).to.match(/127\.0\.0\.1$/)
    expect(await seen(['127.0.0.0/8', '::1'])).to.equal('203.0.113.9')
  })
})
