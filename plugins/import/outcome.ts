import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Refusal } from '../../engine/index.ts'
import type { CommandOutput } from '../../engine/index.ts'
import type { Draft } from './draft.ts'
import type { Report } from './report.ts'
import { Unreadable } from './tree.ts'
import { filesOf, put, writeAll } from './write.ts'
import type { Files } from './write.ts'

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
    const files = filesOf(draft, from)
    await checkFiles(files, draft.environment, output)
    const title = `Import from ${product}`
    // A report of an earlier import counted the keys that were not known then.
    const isOwn = (path: string, text: string) =>
      store !== undefined && path === reportFile && text.startsWith(`# ${title}\n`)
    // With the report: what is lost has to be known, even if the keys cannot be stored.
    const all = new Map([...files, [reportFile, report.markdown(title)]])
    await writeAll(folder, all, draft.environment, { force, isDry, isOwn })
    if (store && !isDry) {
      await store(folder).catch((error: unknown) => {
        if (!(error instanceof Refusal)) throw error
        throw new Unreadable(`the keys were not stored: ${error.message}`)
      })
      await put(resolve(folder, reportFile), report.markdown(title))
    }
    tell(report, { isDry, out }, output)
    return report.exitCode(strict)
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    output.error(`sluice: ${error.message}`)
    return 1
  }
}

/** Checks files before they are written. Rejects with `Unreadable`, which has the findings. */
async function checkFiles(
  files: Files,
  variables: ReadonlyMap<string, string>,
  { inFolder }: CommandOutput,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-import-'))
  try {
    for (const [path, text] of files) await put(join(folder, path), text)
    await inFolder(folder, [], async () => undefined, {
      ...Object.fromEntries(variables),
      DATABASE_URL: `sqlite:${join(folder, 'data', 'sluice.db')}`,
      REDIS_URL: '',
    })
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw new Unreadable(`the result would not pass "sluice check", so nothing was written:\n${error.message}`)
  } finally {
    await rm(folder, { recursive: true, force: true })
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
