import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { run } from '../../../engine/cli/main.ts'

/** The root of the checkout. */
export const root = join(import.meta.dirname, '..', '..', '..')

/** What a command answered. */
export interface Ran {
  readonly status: number
  /** Lines of standard output and of standard error. */
  readonly out: readonly string[]
  readonly error: readonly string[]
}

/** A temporary folder in which commands run as in a terminal. */
export interface Sandbox {
  readonly folder: string
  write(name: string, text: string): Promise<void>
  run(...words: string[]): Promise<Ran>
  /** The same with variables in the environment. */
  run(words: readonly string[], environment: Readonly<Record<string, string>>): Promise<Ran>
  remove(): Promise<void>
}

/** A configuration with a provider that needs no account. */
export const configuration = `
providers: [{ name: echo, type: echo }]
models: [{ name: echo, provider: echo }]
`

/** Makes a sandbox of files by name; without more, a configuration and an empty folder of pipelines. */
export async function sandbox(files: Readonly<Record<string, string>> = {}): Promise<Sandbox> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'sluice-cli-')))
  const write = async (name: string, text: string) => {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  await mkdir(join(folder, 'pipelines'))
  for (const [name, text] of Object.entries({ 'config/sluice.yaml': configuration, ...files })) await write(name, text)
  return {
    folder,
    write,
    async run(...given: [readonly string[], Readonly<Record<string, string>>] | string[]) {
      const [words, environment] = (Array.isArray(given[0]) ? given : [given, {}]) as [string[], Record<string, string>]
      const out: string[] = []
      const error: string[] = []
      const status = await run(words, {
        environment,
        folder,
        interactive: false,
        out: (text) => void out.push(...text.split('\n')),
        error: (text) => void error.push(...text.split('\n')),
        style: (_, text) => text,
      })
      return { status, out, error }
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
