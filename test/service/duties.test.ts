import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { fencedBlocks } from '../../engine/cli/check-file.ts'
import { sandbox } from '../engine/cli/sandbox.ts'
import { root } from '../rules/sources.ts'
import { startFolder } from '../support/folder.ts'
import type { FolderGateway } from '../support/folder.ts'

const block = fencedBlocks(readFileSync(join(root, 'docs', 'operator.md'), 'utf8'), ['yaml'])
  .map(({ text }) => text)
  .find((text) => text.includes('name: chat-completions'))
const body = { model: 'echo', messages: [{ role: 'user', content: 'Hello' }] }

describe('the duties of an own endpoint', function () {
  this.timeout(300_000)
  const serve = (key: object): Promise<FolderGateway> =>
    startFolder(
      {
        providers: [{ name: 'echo', type: 'echo' }],
        models: [{ name: 'echo', provider: 'echo', pricing: { input: 100, output: 100 }, max_output_tokens: 100 }],
        api_keys: [{ name: 'bounded', key: 'sk-bounded-0123456789abcdef', ...key }],
      },
      { 'pipelines/chat-completions.yaml': block ?? '' },
    )
  const statuses = async (gateway: FolderGateway, times: number) => {
    const found: number[] = []
    for (let index = 0; index < times; index++) {
      const answer = await gateway.ask('/v1/chat/completions', body, {
        authorization: 'Bearer sk-bounded-0123456789abcdef',
      })
      await answer.text()
      found.push(answer.status)
    }
    return found
  }

  it('are paid by the pipeline of the read-me: rate limits hold', async () => {
    const gateway = await serve({ rate_limit: { requests: 3, period: '60s' } })
    try {
      expect(await statuses(gateway, 5)).to.deep.equal([200, 200, 200, 429, 429])
    } finally {
      await gateway.close()
    }
  })

  it('are paid by the pipeline of the read-me: budgets hold', async () => {
    const gateway = await serve({ budget: { usd: 0.0001, period: 'day' } })
    try {
      expect((await statuses(gateway, 4)).at(-1)).to.equal(429)
    } finally {
      await gateway.close()
    }
  })

  it('are an error of the check where one is missing: a pinned model that was not allowed, and a policy that is not applied', async () => {
    const pinned = (stages: string) => `name: pinned
summary: One model.
protocol: chat
routes: [POST /pinned]
stages: [auth: { with: key }, parse, pin: { model: echo }, ${stages}, reserve, use: generate]
finally: [use: settle]
`
    const settings = `providers: [{ name: echo, type: echo }]
models: [{ name: echo, provider: echo }]
`
    const here = await sandbox({ 'config/sluice.yaml': settings, 'pipelines/pinned.yaml': pinned('validate, limit') })
    try {
      const wrong = await here.run('check')
      expect(wrong.out.join('\n')).to.contain(
        'pipelines/pinned.yaml:5:91: "call" owes "allow", which nothing has paid since "pin" gave "candidates"; add "- allow" before this step [duty]',
      )
      expect(wrong.status).to.equal(1)
      await here.write('pipelines/pinned.yaml', pinned('validate, limit, allow, guard: { side: input }'))
      const right = await here.run('check')
      expect([right.status, right.out.length], right.out.join('\n')).to.deep.equal([0, 1])
      await here.write(
        'config/sluice.yaml',
        `${settings}server_config: { request_policy: { max_output_tokens: 100 } }\n`,
      )
      const advised = await here.run('check')
      expect(advised.status).to.equal(0)
      expect(advised.out.filter((line) => line.includes('[duty]'))).to.deep.equal([
        'pipelines/pinned.yaml:5:122: warning: "call" owes "apply-policy", which nothing before it pays; add "- apply-policy" before this step [duty]',
      ])
      await here.write(
        'pipelines/pinned.yaml',
        pinned('validate, limit, guard: { side: input }').replace('stages:', 'without: [allow, apply-policy]\nstages:'),
      )
      const waived = await here.run('check', '--strict')
      expect([waived.status, waived.out[0]]).to.deep.equal([
        0,
        'pipelines/pinned.yaml:5:10: note: "pinned" does without "allow", "apply-policy" [without]',
      ])
      expect((await here.run('explain', 'pinned')).out.join('\n')).to.contain('does without allow, apply-policy')
    } finally {
      await here.remove()
    }
  })
})
