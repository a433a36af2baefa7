import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'

const run = promisify(execFile)
const most = 20 * 1024 * 1024

/** The bytes of live heap that so many changes of one configuration add, made without a pause. */
async function growth(change: string, times: number): Promise<number> {
  const script = join(import.meta.dirname, 'heap-after.ts')
  const { stdout } = await run(process.execPath, ['--expose-gc', script, change, String(times)])
  const { before, after } = JSON.parse(stdout) as { readonly before: number; readonly after: number }
  return after - before
}

describe('the memory of replaced configurations', () => {
  it('is free again after 200 reloads in a row', async () => {
    expect(await growth('reload', 200)).to.be.lessThan(most)
  })

  it('is free again after 200 changes of settings in a row', async () => {
    expect(await growth('settings', 200)).to.be.lessThan(most)
  })

  it('is free again after 500 records made in a row', async () => {
    expect(await growth('records', 500)).to.be.lessThan(most)
  })
})
