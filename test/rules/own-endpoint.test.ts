import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { fencedBlocks } from '../../engine/cli/check-file.ts'
import { sandbox } from '../engine/cli/sandbox.ts'
import { root } from './sources.ts'

describe('the page about an endpoint of your own', () => {
  const page = readFileSync(join(root, 'docs/own-endpoint.md'), 'utf8')

  it('holds in an empty folder, word for word', async function () {
    this.timeout(60_000)
    const [settings = '', support = '', brief = '', unlimited = '', fixture = ''] = fencedBlocks(page, ['yaml']).map(
      ({ text }) => text.trimStart(),
    )
    const here = await sandbox({
      'config/sluice.yaml': settings,
      'pipelines/support.yaml': support,
      'pipelines/brief.yaml': brief,
      'pipelines/support.test.yaml': fixture,
    })
    try {
      const { out: checked } = await here.run('check')
      expect(checked).to.have.length(1)
      expect(checked[0]).to.contain('nothing wrong')
      const { out: plan } = await here.run('explain', 'support')
      for (const duty of [
        'apply-policy',
        'limit',
        'allow',
        'reserve',
        'breaker',
        'answered',
        'price',
        'charge',
        'record-routing',
        'log',
      ])
        expect(plan.join('\n')).to.match(new RegExp(`pays (.*, )?${duty}\\b`))
      const { out: tested } = await here.run('test', 'pipelines/support.test.yaml')
      expect(tested.at(-1), tested.join('\n')).to.equal('2 passing')

      await here.write('pipelines/support.yaml', support.replace('[use: admit, use: generate]', unpaid(unlimited)))
      const refused = await here.run('check')
      expect(refused.status).to.equal(1)
      const [shown] = fencedBlocks(page, ['']).map(({ text }) => text.trim().split('\n'))
      expect(refused.out).to.include.members(shown ?? [])

      await here.write('pipelines/support.yaml', support)
      await here.write('pipelines/unlimited.yaml', unlimited)
      const waived = await here.run('check')
      expect(waived.status).to.equal(0)
      expect(waived.out.join('\n')).to.contain('does without "limit", "reserve"')
    } finally {
      await here.remove()
    }
  })
})

/** The steps of the pipeline that waives its duties. */
const unpaid = (pipeline: string) => /^stages: (.*)$/m.exec(pipeline)?.[1] ?? ''
