import { resolve } from 'node:path'
import { printDiagnostic } from '../config/diagnostics.ts'
import type { Diagnostic } from '../config/diagnostics.ts'
import { ConfigurationError } from '../gateway.ts'
import { loadConfiguration } from '../live/load-configuration.ts'
import type { Configuration } from '../records/configuration.ts'
import type { Json } from '../spec/json.ts'
import { openFixtureGateway } from './fixture/gateway.ts'
import { allFixtures, findFixture } from './fixture/find.ts'
import { runTest } from './fixture/run.ts'
import type { TestResult } from './fixture/run.ts'
import { openUpstream } from './fixture/upstream.ts'
import { WrongUse } from './terminal.ts'
import type { CommonOptions, Terminal } from './terminal.ts'
import { count, printJson } from '../kit/text.ts'

export interface TestOptions extends CommonOptions {
  /** Fixtures to run; empty: all fixtures of the pipelines. */
  readonly files: readonly string[]
  /** A provider type on which to run the conformance suite, instead of fixtures. */
  readonly provider?: string
}

/** The result of one fixture. */
interface FixtureResult {
  readonly file: string
  /** Findings in the fixture itself. */
  readonly findings: readonly Diagnostic[]
  readonly tests: readonly TestResult[]
}

/** Runs fixtures, or the conformance suite, and prints the results. Returns 1 if anything fails. */
export async function test({ config, json, files, provider }: TestOptions, terminal: Terminal): Promise<number> {
  const { environment, folder } = terminal
  const configuration = await loadConfiguration({ file: config, root: folder, environment })
  if (configuration.diagnostics.length > 0) {
    for (const diagnostic of configuration.diagnostics) terminal.error(printDiagnostic(diagnostic))
    return 1
  }
  if (provider !== undefined) {
    if (files.length > 0) throw new WrongUse('name either fixtures or --provider, not both')
    return (await import('./conform.ts')).conform(provider, configuration, json, terminal)
  }
  const chosen = files.length > 0 ? files : await allFixtures(configuration, terminal)
  const results: FixtureResult[] = []
  for (const file of chosen) {
    const result = await runFixture(file, configuration, config, terminal)
    results.push(result)
    if (!json) print(result, terminal)
  }
  const tests = results.flatMap((result) => result.tests)
  const failing = tests.filter(({ differences }) => differences.length > 0).length
  const broken = results.filter(({ findings }) => findings.length > 0).length
  if (json) terminal.out(printJson(results as unknown as Json))
  else terminal.out(summary(tests.length - failing, failing, broken, terminal))
  return failing + broken > 0 ? 1 : 0
}

async function runFixture(
  file: string,
  configuration: Configuration,
  config: string,
  terminal: Terminal,
): Promise<FixtureResult> {
  const found = await findFixture(file, configuration, terminal)
  if ('findings' in found) return { file, findings: found.findings, tests: [] }
  const { fixture, source, pipeline } = found
  const path = resolve(terminal.folder, file)
  const upstream = await openUpstream()
  try {
    const gateway = await openFixtureGateway({ fixture, pipeline, configuration, config, upstream }, terminal)
    try {
      const tests: TestResult[] = []
      for (const written of fixture.tests)
        tests.push(await runTest(written, { file: path, pipeline, gateway, upstream }))
      return { file, findings: [], tests }
    } finally {
      await gateway.close()
    }
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    // Positions in the generated configuration would mean nothing to the fixture's author.
    return { file, findings: error.diagnostics.map(({ code, message }) => source.report([], code, message)), tests: [] }
  } finally {
    await upstream.close()
  }
}

function print({ file, findings, tests }: FixtureResult, terminal: Terminal): void {
  terminal.out(terminal.style('bold', file))
  for (const finding of findings) terminal.out(`  ${terminal.style('red', printDiagnostic(finding))}`)
  for (const result of tests) terminal.out(printTest(result, terminal))
  terminal.out('')
}

/** The result of a test: one line and, if it failed, each difference and the errors the gateway logged. */
function printTest({ name, differences, log, milliseconds }: TestResult, terminal: Terminal): string {
  const time = terminal.style('dim', `(${Math.round(milliseconds)} ms)`)
  if (differences.length === 0) return `  ${terminal.style('green', '✔')} ${name} ${time}`
  return [
    `  ${terminal.style('red', '✘')} ${name} ${time}`,
    ...differences.flatMap(({ path, expected, actual }) => [
      `      ${path}`,
      terminal.style('green', `        expected ${show(expected)}`),
      terminal.style('red', `        actual   ${show(actual)}`),
    ]),
    ...log.map((line) => terminal.style('dim', `      log: ${line}`)),
  ].join('\n')
}

function show(value: Json | undefined): string {
  if (value === undefined) return 'nothing'
  const text = JSON.stringify(value)
  return text.length > 400 ? `${text.slice(0, 400)}…` : text
}

function summary(passing: number, failing: number, broken: number, terminal: Terminal): string {
  const parts = [
    terminal.style('green', `${passing} passing`),
    ...(failing > 0 ? [terminal.style('red', `${failing} failing`)] : []),
    ...(broken > 0 ? [terminal.style('red', `${count(broken, 'fixture')} not run`)] : []),
  ]
  return parts.join(', ')
}
