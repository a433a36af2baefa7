import { closes } from './provider/closes.ts'
import { fails } from './provider/fails.ts'
import { refuses } from './provider/refuses.ts'
import { Rig } from './provider/rig.ts'
import type { HttpProvider } from './provider/rig.ts'
import { sends } from './provider/sends.ts'
import { takes } from './provider/takes.ts'

export type { HttpProvider }

/** What every provider over HTTP must do, whatever its upstream does to it. */
export function conformProvider(name: string, provider: HttpProvider): void {
  describe(`provider ${name}`, () => {
    const rig = new Rig(provider)
    beforeEach(() => rig.start())
    afterEach(() => rig.stop())
    sends(rig)
    takes(rig)
    fails(rig)
    closes(rig)
    refuses(rig)
  })
}
