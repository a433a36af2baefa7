import { expect } from 'chai'
import { sideBySide } from '../../support/side-by-side.ts'
import { until } from '../../support/until.ts'
import { startServe } from './process.ts'
import { sandbox } from './sandbox.ts'

/** Services that fail at each place of a greeting, and one after them that does not. */
const plugin = `import { definePlugin, defineService } from 'sluice'

const greeter = (name, greet) =>
  defineService({ name, summary: 'Greets.', uses: [], open: () => ({ configure: () => ({ view: {} }) }), greet })
const never = () => new Promise(() => undefined)
const endless = 2n

export default definePlugin({
  name: 'greeters',
  summary: 'Greeters.',
  services: [
    greeter('greet_throws', () => { throw new Error('no greeting') }),
    greeter('greet_hangs', never),
    greeter('greeting_is_null', () => null),
    greeter('now_has_no_text', () => ({ now: {} })),
    greeter('now_is_no_json', () => ({ now: { text: 'two', json: { endless } } })),
    greeter('served_throws', () => ({ served: () => { throw new Error('no greeting') } })),
    greeter('served_hangs', () => ({ served: never })),
    greeter('sound', () => ({
      now: { text: 'the sound one is here' },
      served: ({ url }) => ({ text: 'the sound one is at ' + url }),
    })),
  ],
})
`
describe('cli/introduce', function () {
  // Two deadlines of 5 seconds have to pass.
  this.timeout(300_000)

  for (const workers of [1, 2])
    sideBySide(`serves and prints all other greetings when some fail or hang, with workers: ${workers}`, async () => {
      const here = await sandbox({ 'plugins/greeters.ts': plugin })
      await here.write(
        'config/sluice.yaml',
        `listen: { port: 0, workers: ${workers} }\ndatabase: { url: 'sqlite:${here.folder}/sluice.db' }\nshutdown: { notice: 0s }\n`,
      )
      const process = startServe(here.folder)
      const lines = () =>
        process.error
          .filter((line) => line.startsWith('{'))
          .map((line) => JSON.parse(line) as { pid: number; msg: string; service?: string; err?: { message: string } })
      const failed = () =>
        lines()
          .filter(({ msg }) => msg === 'a service cannot say what it says at the start')
          .map(({ service }) => service)
      try {
        await process.until(() => process.out.some((line) => line.startsWith('the sound one is at')))
        const [url = ''] = process.out.flatMap((line) => /^the sound one is at (.+)$/.exec(line)?.slice(1) ?? [])
        expect(process.out).to.include('the sound one is here').and.to.include(`Sluice serves on ${url}`)
        await until(async () => (await fetch(`${url}/api/health/ready`)).status === 200)
        const live = () => lines().filter(({ msg }) => msg === 'the configuration is live')
        await process.until(() => live().length === workers)
        const broken = [
          'greet_throws',
          'greet_hangs',
          'greeting_is_null',
          'now_has_no_text',
          'now_is_no_json',
          'served_throws',
          'served_hangs',
        ]
        await process.until(() => broken.every((one) => failed().includes(one)))
        expect(failed()).to.not.include('sound')
        expect(process.error.filter((line) => !line.startsWith('{'))).to.deep.equal([])
        process.interrupt('SIGTERM')
        expect(await process.ended).to.equal(0)
      } finally {
        await process.remove()
        await here.remove()
      }
    })
})
