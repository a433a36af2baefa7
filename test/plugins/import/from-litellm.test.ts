import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { root, sandbox } from '../../engine/cli/sandbox.ts'
import { startImported } from './imported.ts'

const config = `
model_list:
  - model_name: gpt-4o
    litellm_params: { model: openai/gpt-4o, api_key: os.environ/OPENAI_API_KEY }
`

describe('the page about LiteLLM', () => {
  it('holds, command by command', async () => {
    const page = await readFile(join(root, 'docs/from-litellm.md'), 'utf8')
    const commands = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = '']) => block.trim().split('\n'))
    const [imports, checks, serves, asks, ...others] = commands
    expect(others).to.deep.equal([])
    expect([imports, checks, serves]).to.deep.equal([
      'sluice import litellm ../config.yaml --out .',
      'sluice check',
      'sluice serve',
    ])
    const here = await sandbox()
    try {
      await here.write('config.yaml', config)
      const folder = join(here.folder, 'new')
      await mkdir(folder)
      const imported = await here.run('import', 'litellm', 'config.yaml', '--out', 'new')
      expect([imported.status, ...imported.error]).to.deep.equal([0])
      expect((await here.run('--config', 'new/config/sluice.yaml', 'check')).status).to.equal(0)
      const [, path = '', body = ''] = /^curl http:\/\/127\.0\.0\.1:8080(\S+) .* -d '(.*)'$/.exec(asks ?? '') ?? []
      const gateway = await startImported(folder)
      try {
        const { model } = JSON.parse(body) as { model: string }
        expect(await gateway.ask(model, undefined, path)).to.include({ status: 200 })
      } finally {
        await gateway.close()
      }
    } finally {
      await here.remove()
    }
  })
})
