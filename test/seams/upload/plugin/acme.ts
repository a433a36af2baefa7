import { createHash } from 'node:crypto'
import { GatewayError, definePlugin, defineProvider, defineStage, noConfig } from 'sluice'
import { giveBack, pull } from 'sluice/kit'
import type { Body } from 'sluice'

/** The hash of some bytes of a body, read as they come. */
function hashOf(body: Body, from?: number, to?: number): Promise<string> {
  const hash = createHash('sha256')
  return new Promise((resolve, reject) => {
    body.open(from, to).open({
      data(chunk) {
        hash.update(chunk)
        giveBack(chunk)
      },
      end: () => resolve(hash.digest('hex')),
      fail: reject,
    })
  })
}

export default definePlugin({
  name: 'acme',
  summary: 'Hears what is uploaded, and tells what that takes.',
  providers: [
    defineProvider({
      name: 'acme',
      summary: 'Takes a recording whole, tells its hash, and then fails or answers.',
      config: {
        type: 'object',
        additionalProperties: false,
        properties: { fails: { type: 'boolean', default: false, description: 'Fails after it has read all of it.' } },
      } as const,
      offers: () => [{ operation: 'transcribe', protocol: 'transcriptions' }],
      open: ({ fails }) => ({
        async send({ body, model }) {
          const middle = body.size >> 1
          const hashes = [await hashOf(body), await hashOf(body, 0, middle), await hashOf(body, middle)]
          const text = [...hashes, body.size, body.bytes ? 'held' : 'on disk'].join(' ')
          if (fails) throw new GatewayError('upstream_error', { model, reason: 'it is deaf' }, { tags: ['503'] })
          async function* answer() {
            yield Buffer.from(JSON.stringify({ text }))
          }
          return { status: 200, headers: { 'content-type': 'application/json' }, body: pull(answer()) }
        },
      }),
    }),
  ],
  stages: [
    defineStage({
      name: 'acme-memory',
      summary: 'Tells the most bytes of memory that the process ever had.',
      config: noConfig,
      needs: ['ingress'],
      provides: ['reply'],
      build: () => () => {
        const { maxRSS } = process.resourceUsage()
        return { reply: { status: 200, headers: {}, body: { kind: 'json', value: { most: maxRSS * 1024 } } } }
      },
    }),
  ],
})
