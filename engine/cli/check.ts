import { printDiagnostic, sortDiagnostics } from '../config/diagnostics.ts'
import type { Diagnostic } from '../config/diagnostics.ts'
import { loadConfiguration } from '../live/load-configuration.ts'
import type { Configuration } from '../records/configuration.ts'
import { emptyGateway } from '../live/gateway-host.ts'
import { openSnapshot } from '../live/snapshot.ts'
import { productVersion } from '../version.ts'
import { checkFile } from './check-file.ts'
import { allFixtures, findFixture } from './fixture/find.ts'
import type { CommonOptions, Terminal } from './terminal.ts'
import { count, printJson } from '../kit/text.ts'

export interface CheckOptions extends CommonOptions {
  /** Files to check within the current configuration; empty: check everything. */
  readonly files: readonly string[]
  /** Whether warnings count like other findings. */
  readonly strict?: boolean
}

/**
 * Prints every finding as `file:line:column: message [code]`. Returns 1 if any of them is more than a warning, or with
 * `strict` if there is a warning. Notes are no mistakes.
 */
export async function check({ config, json, files, strict }: CheckOptions, terminal: Terminal): Promise<number> {
  const { environment, folder } = terminal
  const configuration = await loadConfiguration({ file: config, root: folder, environment })
  const findings =
    files.length === 0
      ? [...(await checkAll(configuration, config, terminal)), ...(strict ? configuration.unset : [])]
      : await checkEach(files, configuration, terminal)
  const wrong = findings.filter(({ warning, fails, note }) => !note && (strict || fails || !warning))
  if (json) terminal.out(printJson(findings.map((finding) => ({ ...finding }))))
  else {
    for (const finding of findings) terminal.out(printDiagnostic(finding))
    if (wrong.length === 0)
      terminal.out(files.length === 0 ? praise(configuration) : `${count(files.length, 'file')}: nothing wrong`)
  }
  return wrong.length > 0 ? 1 : 0
}

/** The findings of reading and, if there are none, those of building and of the fixtures. */
async function checkAll(
  configuration: Configuration,
  file: string,
  terminal: Terminal,
): Promise<readonly Diagnostic[]> {
  const { environment, folder } = terminal
  const gateway = emptyGateway(productVersion())
  const opened = await openSnapshot(configuration, { file, root: folder, environment, gateway })
  if ('snapshot' in opened) await opened.snapshot.close()
  if ('diagnostics' in opened) return sortDiagnostics([...opened.diagnostics, ...configuration.warnings])
  const { warnings } = opened.snapshot
  const fixtures = await allFixtures(configuration, terminal)
  const found = await Promise.all(fixtures.map((fixture) => findFixture(fixture, configuration, terminal)))
  return sortDiagnostics([
    ...warnings,
    ...configuration.notes,
    ...found.flatMap((one) => ('findings' in one ? one.findings : [])),
  ])
}

async function checkEach(
  files: readonly string[],
  configuration: Configuration,
  terminal: Terminal,
): Promise<readonly Diagnostic[]> {
  const findings: Diagnostic[] = []
  for (const file of files) findings.push(...(await checkFile(file, configuration, terminal)))
  return findings
}

function praise({ registry, pipelines, off }: Configuration): string {
  const { stages, codecs, providers } = registry
  const counted = [
    count(pipelines.length, 'pipeline'),
    count(stages.size, 'stage'),
    count(codecs.size, 'codec'),
    count(providers.size, 'provider type'),
  ]
  return [...off, `${counted.join(', ')}: nothing wrong`].join('\n')
}
