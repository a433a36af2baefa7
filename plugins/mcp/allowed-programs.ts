import { accessSync, constants, statSync } from 'node:fs'
import { basename, delimiter, isAbsolute, join } from 'node:path'
import type { ConfigOf, Records, SectionReport } from '../../engine/index.ts'

const text = {
  type: 'string',
  maxLength: 32_768,
  pattern: '^[^\\u0000]*$',
  patternErrorMessage: 'must hold no null character',
} as const

const command = {
  type: 'string',
  maxLength: 4_096,
  // Relative to which folder would be unclear.
  pattern: '^(/[^\\u0000]*|[^/\\\\\\u0000]+|[A-Za-z]:[/\\\\][^\\u0000]*)$',
  patternErrorMessage: 'must be an absolute path, or a name without "/" that is looked up once in PATH of the gateway',
} as const

/** The setting `allow_stdio`. */
export const allowedPrograms = {
  type: 'array',
  title: 'Programs of stdio servers',
  maxItems: 1_000,
  items: {
    ...command,
    type: ['string', 'object'],
    additionalProperties: false,
    required: ['command'],
    properties: {
      command: { ...command, description: 'The program: its absolute path, or a name that is found in PATH.' },
      arguments: {
        type: 'array',
        maxItems: 1_000,
        items: text,
        default: [],
        description:
          'Its arguments, each as it must be. A * stands for one or more characters, among which are no "..", and which do not begin with "-".',
      },
      cwd: { ...text, minLength: 1, description: 'The folder in which it must run; unset: that of the gateway.' },
      environment: {
        type: 'array',
        maxItems: 1_000,
        items: {
          type: 'string',
          pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
          patternErrorMessage: 'must be the name of an environment variable',
        },
        default: [],
        description: 'Names of the environment variables that a server may set.',
      },
    },
  },
  default: [],
  'x-place': 'mcp.allow_stdio',
  description:
    'Programs that MCP servers which are made at run time may start. A command alone allows no arguments, no folder and no variables.',
} as const

type Entry = ConfigOf<typeof allowedPrograms>[number]

interface Allowed {
  /** Absolute path; undefined: PATH has no such program. */
  readonly path: string | undefined
  readonly arguments: readonly string[]
  readonly cwd: string | undefined
  readonly environment: ReadonlySet<string>
}

const words = (...lines: readonly string[]): readonly string[] => lines.flatMap((line) => line.split(' '))

/** Variables that decide what code a program, its interpreter or the programs that it starts will run. */
const loaderNames: ReadonlySet<string> = new Set(
  words(
    'PATH PATHEXT COMSPEC SHELL ENV BASHOPTS SHELLOPTS PS4 IFS CDPATH FPATH ZDOTDIR PROMPT_COMMAND INPUTRC',
    'EDITOR VISUAL BROWSER LESSOPEN LESSCLOSE MAKEFLAGS MAKEFILES HGPLUGIN HGRCPATH SVN_EDITOR SVN_SSH',
    'LIBPATH SHLIB_PATH GLIBC_TUNABLES GCONV_PATH LOCPATH NLSPATH SASL_PATH KRB5_CONFIG KRB5_TRACE',
    'VIRTUAL_ENV CLASSPATH PHPRC GOFLAGS GODEBUG GOROOT GOPATH GOENV GOTOOLCHAIN GOPROXY RUSTFLAGS',
    'R_PROFILE R_PROFILE_USER R_ENVIRON R_ENVIRON_USER R_LIBS R_LIBS_USER R_LIBS_SITE R_HOME',
    'TCLLIBPATH TCL_LIBRARY AWKPATH AWKLIBPATH EMACSLOADPATH VIMINIT VIMRUNTIME',
  ),
)
const loaderStarts = words(
  'BASH_ LD_ _LD_ LDR_ _RLD DYLD_ MALLOC_ OPENSSL_ GTK GIO_ GDK_ GST_ QT_ QML MAGICK_ GIT_',
  'NODE_ NPM_CONFIG_ YARN_ PNPM_ COREPACK_ DENO_ BUN_ TS_NODE_ TSX_ ELECTRON_',
  'PYTHON PYENV PIP_ PIPX_ UV_ POETRY_ CONDA_ PERL RUBY GEM_ BUNDLE RBENV_ PHP_INI COMPOSER',
  'JAVA_ _JAVA_ JDK_ MAVEN_ GRADLE_ DOTNET_ COMPLUS_ CORECLR_ COR_PROFILER COR_ENABLE MONO_',
  'RUSTC RUSTUP_ CARGO_ JULIA_ ERL_ ELIXIR_ GUILE_ LUA_ CAML OCAML GHC',
)
const loaderEnds = words('PAGER ASKPASS _PRELOAD SAN_OPTIONS')

/** Whether a variable decides what code runs. Some systems and programs do not tell the case of its letters apart. */
function isLoader(variable: string): boolean {
  const name = variable.toUpperCase()
  if (name === 'NODE_ENV') return false
  return (
    loaderNames.has(name) ||
    loaderStarts.some((start) => name.startsWith(start)) ||
    loaderEnds.some((end) => name.endsWith(end))
  )
}

/** Shells, interpreters and programs that start packages or containers. */
const launcher =
  /^(ba|da|k|z|fi|a)?sh$|^(node|deno|bun|python|perl|ruby|php)[\d.]*$|^(npx|bunx|pnpx|uvx|pipx|npm|pnpm|yarn|uv|docker|podman|env|sudo|xargs|ssh)$/

/** Reports what the setting must not name. */
export function checkPrograms(entries: readonly Entry[], report: SectionReport): void {
  for (const [index, entry] of entries.entries()) {
    const place = ['allow_stdio', index]
    const { command: name, arguments: patterns, cwd, environment } = wholeOf(entry)
    const open = launcher.test(basename(name)) ? patterns.indexOf('*') : -1
    if (open >= 0)
      report(
        [...place, 'arguments', open],
        `lets whoever may make MCP servers run any code, because "${basename(name)}" runs what it is given`,
        'open-door',
        'warning',
      )
    const at = typeof entry === 'string' ? place : [...place, 'command']
    if (found(name) === undefined)
      report(at, `PATH has no program "${name}", so that no server may start it`, 'service', 'warning')
    if (cwd !== undefined && !isAbsolute(cwd)) report([...place, 'cwd'], 'must be an absolute path')
    for (const [number, variable] of environment.entries())
      if (isLoader(variable))
        report([...place, 'environment', number], `"${variable}" decides what code runs; only this file may set it`)
  }
}

/** What a server starts. */
export type Program = Pick<Records['mcp_server'], 'command' | 'arguments' | 'environment' | 'cwd'>

/** The absolute path of a program that may be started; otherwise the field that does not fit, such as `arguments[0]`. */
export type Admission = { readonly path: string } | { readonly misfit: string }

/** The programs that servers may start which are made at run time. */
export class AllowedPrograms {
  readonly #allowed: readonly Allowed[]

  constructor(entries: readonly Entry[]) {
    this.#allowed = entries.map((entry) => {
      const { command: name, arguments: patterns, cwd, environment } = wholeOf(entry)
      return { path: found(name), arguments: patterns, cwd, environment: new Set(environment) }
    })
  }

  admit(program: Program): Admission {
    const path = found(program.command ?? '')
    if (path === undefined) return { misfit: 'command' }
    const misfits = this.#allowed.filter((one) => one.path === path).map((one) => misfitOf(program, one))
    if (misfits.includes(undefined)) return { path }
    return { misfit: misfits[0] ?? 'command' }
  }
}

/** The first field of a program that is not as the file lists it. */
function misfitOf({ arguments: words, cwd, environment }: Program, allowed: Allowed): string | undefined {
  const { arguments: patterns } = allowed
  for (const [index, word] of words.entries()) {
    const pattern = patterns[index]
    if (pattern === undefined || !fits(word, pattern)) return `arguments[${index}]`
  }
  if (words.length < patterns.length) return 'arguments'
  if (cwd !== allowed.cwd) return 'cwd'
  const strange = Object.keys(environment).find((name) => !allowed.environment.has(name) || isLoader(name))
  return strange === undefined ? undefined : `environment.${strange}`
}

/** Whether an argument is as a pattern says, in which each `*` stands for one or more characters. */
export function fits(word: string, pattern: string): boolean {
  const [start = '', ...others] = pattern.split('*')
  const end = others.pop()
  if (end === undefined) return word === pattern
  if (!word.startsWith(start)) return false
  // An option, or a way out of a folder, is never what the operator meant by it.
  if (word.startsWith('-', start.length) || word.replaceAll(/%2e/gi, '.').includes('..')) return false
  let at = start.length + 1
  for (const part of others) {
    const next = word.indexOf(part, at)
    if (next === -1) return false
    at = next + part.length + 1
  }
  return word.length - end.length >= at && word.endsWith(end)
}

function wholeOf(entry: Entry) {
  return typeof entry === 'string'
    ? { command: entry, arguments: [], cwd: undefined, environment: [] }
    : { cwd: undefined, ...entry }
}

const known = new Map<string, string | undefined>()

/** The absolute path of a command. A bare name is looked up once, in PATH of the gateway itself. */
export function found(name: string): string | undefined {
  if (isAbsolute(name)) return name
  if (name === '' || /[/\\]/.test(name)) return undefined
  if (!known.has(name)) known.set(name, lookUp(name))
  return known.get(name)
}

function lookUp(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter(isAbsolute)
  return folders.map((folder) => join(folder, name)).find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
