import { join } from 'node:path'
import { mock } from 'node:test'
import { expect } from 'chai'
import { Warmth } from '../../../engine/services/warmth.ts'
import { ExchangeScope } from '../../../engine/http/scope.ts'
import type { Host } from '../../../engine/index.ts'
import validate from '../../../plugins/translation/validate.ts'
import { testFolder } from '../config/folder.ts'
import { startGateway } from '../../support/gateway.ts'

describe('what is made ready once the gateway serves', () => {
  const warnings: unknown[] = []
  const log = { warn: (facts: unknown) => void warnings.push(facts) } as unknown as ConstructorParameters<
    typeof Warmth
  >[0]
  /** Lets time pass for the mocked timers, then gives the process its own back. */
  const passes = (milliseconds: number) => {
    mock.timers.tick(milliseconds)
    mock.timers.reset()
  }
  /** Resolves when a piece that was added last is done. */
  const last = (warmth: Warmth) => new Promise<void>((resolve) => warmth.add(resolve))

  it('is done a piece at a time, none before and none after, whatever becomes of one', async () => {
    const done: string[] = []
    const warmth = new Warmth(log)
    mock.timers.enable({ apis: ['setTimeout'] })
    for (const name of ['one', 'two']) {
      warmth.add(() => {
        done.push(name)
        setImmediate(() => done.push(`after ${name}`))
      })
    }
    warmth.add(() => {
      throw new Error('cold')
    })
    passes(1_000)
    expect(done).to.deep.equal([])
    await warmth.start()
    expect(done).to.deep.equal(['one', 'after one', 'two', 'after two'])
    expect(warnings).to.have.length(1)
    // What a reload brings is done too.
    await last(warmth)
    warmth.stop()
    mock.timers.enable({ apis: ['setTimeout'] })
    warmth.add(() => done.push('late'))
    passes(1_000)
    expect(done).not.to.include('late')
  })

  it('goes with the configuration that asked for it', async () => {
    const done: string[] = []
    const warmth = new Warmth(log)
    const [replaced, running] = [{}, {}]
    warmth.add(() => done.push('replaced'), false, replaced)
    warmth.add(() => done.push('running'), false, running)
    warmth.add(() => done.push('first of the replaced'), true, replaced)
    warmth.discard(replaced)
    await warmth.start()
    expect(done).to.deep.equal(['running'])
  })

  it('is what the stages of a gateway ask for', async () => {
    const asked = Promise.withResolvers<void>()
    Object.assign(globalThis, { stageIsWarm: asked.resolve })
    const folder = await testFolder({
      'warm.ts': `export default { kind: 'stage', name: 'warm', summary: 's', needs: [], provides: ['reply'],
        config: { type: 'object', additionalProperties: false, properties: {} },
        build: (_, host) => (host.warm(() => globalThis.stageIsWarm()), () => ({ reply: {} })) }\n`,
      'pipelines/p.yaml': 'name: p\nsummary: s.\npublic: true\nroutes: [GET /p]\nstages: [warm]\n',
    })
    const plugins = [join(folder.path, 'warm.ts')]
    const gateway = await startGateway({ plugins, pipelines: join(folder.path, 'pipelines') })
    await asked.promise
    await gateway.close()
    await folder.remove()
  })

  it('are the schemas of protocols', () => {
    let read = 0
    const schema = {
      get type() {
        read++
        return 'object'
      },
    }
    const pieces: (() => void)[] = []
    const host = {
      pipeline: { name: 'p', protocol: 'plain' },
      codec: () => ({ schema }),
      warm: (piece: () => void) => void pieces.push(piece),
    } as unknown as Host
    const run = validate.build({ status: 400 }, host)
    expect(read).to.equal(0)
    for (const piece of pieces) piece()
    expect(read).to.be.greaterThan(0)
    const compiled = read
    expect(run({ request: { body: {} } }, new ExchangeScope())).to.deep.equal({})
    expect(read).to.equal(compiled)
  })
})
