import type { Item, Part, ToolCall, ToolResult } from '../../engine/index.ts'

/** What the model did since the last turn of the user. */
export interface Steps {
  /** Results of tools. */
  readonly step: number
  readonly results_ok: number
  readonly results_failed: number
  /** The last result: 0 worked, 1 an exit code other than zero, 2 an exception, 3 a timeout or a denial. */
  readonly last_error: Severity
  /** Calls at the end that are equal to the one before. */
  readonly repeats: number
  /** Those of the last calls that read, and that write. */
  readonly reads: number
  readonly writes: number
  /** Whether the last call runs tests, a linter or a build. */
  readonly verifies: boolean
  /** Whether the last three results, or all if there are fewer, worked and were short. */
  readonly routine: boolean
}

export type Severity = 0 | 1 | 2 | 3

/** How many of the last calls count. */
const recent = 5
/** Results that make a routine, and characters from which one is long. */
const routine = { results: 3, length: 800 }
/** Characters of a result, at each end, in which an error is looked for. */
const ends = 200
/** Characters of the input of a call in which a command is looked for. */
const commands = 500

/** What happened from the item at `start` on. */
export function stepsFrom(items: readonly Item[], start: number): Steps {
  const calls: ToolCall[] = []
  const results: ToolResult[] = []
  for (let at = start; at < items.length; at++) {
    const item = items[at]
    if (item?.type === 'call') calls.push(item)
    else if (item?.type === 'result') results.push(item)
  }
  const severities = results.map(severityOf)
  const failed = severities.filter((severity) => severity > 0).length
  const verbs = calls.slice(-recent).map(verbOf)
  const last = calls.at(-1)
  return {
    step: results.length,
    results_ok: results.length - failed,
    results_failed: failed,
    last_error: severities.at(-1) ?? 0,
    repeats: repeatsOf(calls),
    reads: verbs.filter((verb) => verb === 'read').length,
    writes: verbs.filter((verb) => verb === 'write').length,
    verifies: last !== undefined && isVerifying(last),
    routine: results.slice(-routine.results).every((result, index, { length }) => {
      return severities[severities.length - length + index] === 0 && lengthOf(result.content) < routine.length
    }),
  }
}

function repeatsOf(calls: readonly ToolCall[]): number {
  let repeats = 0
  for (let at = calls.length - 1; at > 0; at--) {
    const [one, other] = [calls[at], calls[at - 1]]
    if (one?.name !== other?.name || one?.input !== other?.input) break
    repeats++
  }
  return repeats
}

/** Errors in words, the gravest first. Results of tools have no common form. */
const errors: readonly (readonly [Severity, RegExp])[] = [
  [
    3,
    /\b(?:timed? ?out|timeout (?:exceeded|expired)|(?:permission|access) denied|eacces|eperm|not permitted|was rejected)\b/i,
  ],
  [2, /^\W{0,8}(?:\w{0,40}(?:error|exception)\b|traceback \(most|fatal\b|panic\b|uncaught\b)|traceback \(most recent/i],
  [1, /\b(?:exit(?:ed)?(?: with)?(?: status| code)?:? ?(?:code:? ?)?|exit_code"?: ?)[1-9]\d{0,2}\b|non-zero exit/i],
]

/** How badly a tool failed. One that says that it failed, but not how, has thrown an exception. */
function severityOf({ content, error }: ToolResult): Severity {
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
  const seen = text.length > 2 * ends ? `${text.slice(0, ends)}\n${text.slice(-ends)}` : text
  // A result that is not marked may quote an error, as the contents of a file do; its first words tell what it is.
  const found = errors.find(([, words]) => words.test(seen))?.[0] ?? 0
  return error === true && found === 0 ? 2 : found
}

function lengthOf(content: readonly Part[]): number {
  return content.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : 0), 0)
}

const reading = new Set(
  'read get list ls search find grep glob view cat fetch open show query lookup stat head tail browse'.split(' '),
)
const writing = new Set(
  'write edit create update delete remove apply patch insert move rename replace save commit push send post put set append add'.split(
    ' ',
  ),
)

/** What a call does, by the first known verb in the name of its tool. */
function verbOf({ name }: ToolCall): 'read' | 'write' | undefined {
  for (const word of wordsOf(name)) {
    if (reading.has(word)) return 'read'
    if (writing.has(word)) return 'write'
  }
  return undefined
}

const verifying = new Set('test tests lint build check verify typecheck compile'.split(' '))
const running = new Set('run bash shell exec execute command terminal sh powershell'.split(' '))
const runners =
  /\b(?:tests?|pytest|jest|vitest|mocha|rspec|phpunit|ctest|lint|eslint|oxlint|ruff|mypy|clippy|tsc|typecheck|build|compile|make|(?:cargo|go|dotnet|mvn|gradle) (?:test|build|check|vet))\b/i

function isVerifying({ name, input }: ToolCall): boolean {
  const words = wordsOf(name)
  if (words.some((word) => verifying.has(word))) return true
  return words.some((word) => running.has(word)) && runners.test(input.slice(0, commands))
}

/** The words of a name in camel case, or with other marks between them. */
function wordsOf(name: string): readonly string[] {
  return name
    .slice(0, 64)
    .replace(/[a-z](?=[A-Z])/g, '$& ')
    .toLowerCase()
    .split(/[^a-z]+/)
}
