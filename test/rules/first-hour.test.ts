import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { fencedBlocks } from '../../engine/cli/check-file.ts'
import { settingsFormat } from '../../engine/config/settings.ts'
import { sandbox } from '../engine/cli/sandbox.ts'
import { root } from './sources.ts'

const page = readFileSync(join(root, 'docs/first-hour.md'), 'utf8')

/** The files of the page in its order, each named by its first line. */
const files = fencedBlocks(page, ['ts', 'yaml']).map(({ text }) => {
  const written = text.trimStart()
  return { name: /^(?:\/\/|#) (\S+)\n/.exec(written)?.[1] ?? '', text: written }
})

const { host, port } = settingsFormat.properties.listen.properties

describe("the page about an author's first hour", () => {
  it('holds in an empty folder, file by file and word for word', async function () {
    this.timeout(300_000)
    expect(files.map(({ name }) => name)).to.deep.equal([
      'plugins/oracle.ts',
      'config/sluice.yaml',
      'plugins/sayings.ts',
      'plugins/saying-list.ts',
      'plugins/oracle.test.ts',
    ])
    const [key = ''] = /sk-[\w-]+/.exec(files[1]?.text ?? '') ?? []
    expect(page).to.contain(`curl http://${host.default}:${port.default}/v1/`).and.contain(`Bearer ${key}'`)
    const here = await sandbox({ 'package.json': '{ "type": "module" }' })
    const write = async (some: typeof files) => {
      for (const { name, text } of some) await here.write(name, text)
      return (await here.run('check')).out
    }
    try {
      const [shown] = fencedBlocks(page, ['']).map(({ text }) => text.trim())
      expect(await write(files.slice(0, 2))).to.include(shown)
      for (const one of files.slice(2)) expect((await write([one])).join('\n')).to.contain('nothing wrong')
      const { out: actions } = await here.run('list', 'actions', 'list-sayings')
      expect(actions.join('\n'))
        .to.match(/route +GET \/api\/sayings$/m)
        .and.match(/page +\/pages\/list-sayings$/m)
      await mkdir(join(here.folder, 'node_modules'))
      await symlink(root, join(here.folder, 'node_modules', 'sluice'), 'dir')
      const how = { cwd: here.folder, encoding: 'utf8', timeout: 120_000 } as const
      const { stdout, stderr, status, error } = spawnSync(process.execPath, ['--test'], how)
      expect(status, [error?.message, stdout, stderr].join('\n')).to.equal(0)
      expect(stdout).to.match(/pass 2\n/)
    } finally {
      await here.remove()
    }
  })
})
