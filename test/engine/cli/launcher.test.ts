import { spawnSync } from 'node:child_process'
import { cp, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { testFolder } from '../config/folder.ts'
import { root } from './sandbox.ts'

const launcher = join(root, 'engine/bin/sluice.cjs')

/** What the launcher says under another version of Node, and its exit code. */
function under(version: string, file: string) {
  const text = `Object.defineProperty(process.versions, 'node', { value: '${version}' }); require(${JSON.stringify(file)})`
  const { status, stderr } = spawnSync(process.execPath, ['-e', text], { encoding: 'utf8' })
  return { status, lines: stderr.trimEnd().split('\n') }
}

describe('the launcher under an older Node', () => {
  it('says in one line what to do in a checkout', () => {
    const { status, lines } = under('24.9.0', launcher)
    expect(status).to.equal(1)
    expect(lines).to.have.length(1)
    expect(lines[0]).to.match(/^sluice needs Node\.js 26 or newer.*https:\/\/nodejs\.org.*"npm start"/)
  })

  it('says in one line how npm brings it to an installed package', async () => {
    const folder = await testFolder()
    try {
      const bin = join(folder.path, 'node_modules/sluice/engine/bin')
      await mkdir(bin, { recursive: true })
      await cp(launcher, join(bin, 'sluice.cjs'))
      const { status, lines } = under('20.1.0', join(bin, 'sluice.cjs'))
      expect(status).to.equal(1)
      expect(lines).to.have.length(1)
      expect(lines[0]).to.match(/npx -p node-[a-z0-9-]+@26 node ".*node_modules.sluice.engine.bin.sluice\.cjs"$/)
    } finally {
      await folder.remove()
    }
  })
})
