import { resolve } from 'node:path'
import type { CommandOutput } from '../../engine/index.ts'
import type { Draft } from './draft.ts'
import type { Report } from './report.ts'
import { Unreadable } from './tree.ts'
import { filesOf, put, writeAll } from './write.ts'

/** What was read of another gateway. */
export interface Imported {
  readonly draft: Draft
  readonly report: Report
  /** Whose configuration it is, and where it stood. */
  readonly product: string
  readonly from: string
  /** Stores the keys, when the files are there. */
  readonly store?: (folder: string) => Promise<void>
}

export interface OutcomeOptions {
  readonly out: string
  readonly dry_run: boolean
  readonly force: boolean
  readonly strict: boolean
}

const reportFile = 'import-report.md'

/** Writes the files of a new gateway, and tells what became of the old one. Returns the exit code. */
export async function outcome(
  read: () => Promise<Imported>,
  { out, dry_run: isDry, force, strict }: OutcomeOptions,
  output: CommandOutput,
): Promise<number> {
  try {
    const { draft, report, product, from, store } = await read()
    const folder = resolve(output.folder, out)
    if (!isDry) {
      const files = filesOf(draft, from)
      // Whether the report would replace another one is asked before anything is written.
      const title = `Import from ${product}`
      await writeAll(
        folder,
        store ? files : new Map([...files, [reportFile, report.markdown(title)]]),
        draft.environment,
        force,
      )
      if (store) {
        await store(folder)
        await put(resolve(folder, reportFile), report.markdown(title))
      }
    }
    tell(report, { isDry, out }, output)
    return report.exitCode(strict)
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    output.error(`sluice: ${error.message}`)
    return 1
  }
}

function tell(
  report: Report,
  { isDry, out }: { isDry: boolean; out: string },
  { json, out: print }: CommandOutput,
): void {
  if (json) return print(JSON.stringify(report, null, 2))
  const { mapped, default: usual, changed, lost } = report.counts
  const { imported, skipped, disabled, lost: lostKeys } = report.keys
  print(`${mapped} values mapped, ${usual} the default, ${changed} changed, ${lost} lost`)
  if (imported + skipped + lostKeys.length > 0)
    print(
      `${imported} keys imported (${disabled.length} of them disabled), ${skipped} known already, ${lostKeys.length} lost`,
    )
  print(isDry ? 'Nothing was written.' : `${reportFile} in ${out} says what differs. Next: sluice check, then sluice`)
}
