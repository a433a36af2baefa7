// Run by reload-memory.test.ts in a process of its own, with `--expose-gc`: changes the configuration of a gateway with
// 90 models so many times, and prints as JSON the bytes of live heap before and after.
//   node --expose-gc heap-after.ts <change> <times>
import { setTimeout as pause } from 'node:timers/promises'
import { startAdmin } from '../support/admin.ts'
import { testFolder } from '../engine/config/folder.ts'

const [what = '', times = ''] = process.argv.slice(2)
const folder = await testFolder()
const gateway = await startAdmin({
  folder: folder.path,
  models: Array.from({ length: 90 }, (_, index) => ({ name: `model-${index}`, provider: 'echo' })),
})

const changes: Readonly<Record<string, (index: number) => Promise<{ readonly status: number }>>> = {
  reload: () => gateway.asAdmin('POST /api/config/reload', {}),
  settings: (index) => gateway.asAdmin('PATCH /api/config/server/security', { max_keys_per_member: 5 + (index % 2) }),
  records: (index) => gateway.asAdmin('POST /api/config/models', { name: `made-${index}`, provider: 'echo' }),
}

async function change(from: number, to: number): Promise<void> {
  for (let index = from; index < to; index++) {
    const { status } = (await changes[what]?.(index)) ?? { status: 0 }
    if (status !== 200 && status !== 201) throw new Error(`${what} ${index} was answered with ${status}`)
  }
}

/** The live heap after full collections: finalizers of one release what the next collects. */
async function heap(): Promise<number> {
  for (let round = 0; round < 4; round++) {
    globalThis.gc?.()
    await pause(0)
  }
  return process.memoryUsage().heapUsed
}

await gateway.engine.warm
await change(0, 5)
const before = await heap()
await change(5, 5 + Number(times))
console.log(JSON.stringify({ before, after: await heap() }))
await gateway.close()
await folder.remove()
process.exit(0)
