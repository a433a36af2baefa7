// Builds what the image holds without an engine for containers: does in a folder what the lines of the Dockerfile say.
// `node deploy/tree.ts <folder>` leaves the root of the last stage in <folder>/last and prints its size.
import { execFileSync } from 'node:child_process'
import { cpSync, lstatSync, mkdirSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, join, posix, resolve } from 'node:path'

/** An instruction of a Dockerfile, with its continued lines in one. */
export interface Instruction {
  readonly word: string
  readonly flags: Readonly<Record<string, string>>
  /** All that follows its word and its flags. */
  readonly text: string
}

/** The last stage, built in a folder. */
export interface Tree {
  /** Its root. */
  readonly root: string
  readonly workdir: string
  readonly environment: Readonly<Record<string, string>>
  /** The program and its first arguments, and those that a caller may replace; paths are below `root`. */
  readonly entrypoint: readonly string[]
  readonly command: readonly string[]
  /** Folders that are given to the user of the image. */
  readonly owned: readonly string[]
  /** Bytes of its files, without Node.js. */
  readonly size: number
}

interface Stage {
  readonly root: string
  workdir: string
}

/** What the base images bring is not built here: Node.js is the one that runs, and its libraries are the machine's. */
const systemPath = /^\/usr\//
const nodePath = '/nodejs/bin/node'

/** Settings of npm that a builder has, too; others belong to the command that runs this. */
const kept = /^npm_config_(registry|cache|userconfig|proxy|https_proxy|noproxy|cafile)$/i

/** The instructions of a Dockerfile. */
export function instructionsOf(text: string): Instruction[] {
  const lines = text
    .split('\n')
    .filter((line) => !/^\s*#/.test(line))
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
  return lines.map((line) => {
    const [, word = '', rest = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? []
    const flags = [...(/^(?:--\S+\s+)*/.exec(rest)?.[0] ?? '').matchAll(/--([a-z-]+)=(\S+)/g)]
    return {
      word,
      flags: Object.fromEntries(flags.map(([, name = '', value = '']) => [name, value])),
      text: rest.replace(/^(?:--\S+\s+)*/, ''),
    }
  })
}

/**
 * Builds the Dockerfile of a checkout in an empty folder. Throws on an instruction whose effect it does not know, so that
 * it never builds something else.
 */
export function buildTree(checkout: string, folder: string): Tree {
  const stages = new Map<string, Stage>()
  const environment: Record<string, string> = {}
  const owned: string[] = []
  let stage: Stage = { root: '', workdir: '/' }
  let [entrypoint, command]: readonly string[][] = [[], []]
  for (const instruction of instructionsOf(readFileSync(join(checkout, 'Dockerfile'), 'utf8'))) {
    const { word, flags, text } = instruction
    if (word === 'FROM') {
      const name = / AS (\S+)$/.exec(text)?.[1] ?? 'last'
      stages.set(name, (stage = { root: join(folder, name), workdir: '/' }))
    } else if (word === 'WORKDIR') {
      stage.workdir = text
      mkdirSync(join(stage.root, text), { recursive: true })
    } else if (word === 'COPY') {
      copy(checkout, instruction, stage, stages)
      if (flags['chown'] !== undefined) owned.push(text.split(' ').at(-1) ?? '')
    } else if (word === 'RUN') run(text, join(stage.root, stage.workdir))
    else if (word === 'ENV')
      for (const [, name = '', value = ''] of text.matchAll(/(\w+)=(\S+)/g)) environment[name] = value
    else if (word === 'ENTRYPOINT') entrypoint = JSON.parse(text) as string[]
    else if (word === 'CMD') command = JSON.parse(text) as string[]
    else if (!['ARG', 'LABEL', 'USER', 'VOLUME', 'EXPOSE', 'STOPSIGNAL', 'HEALTHCHECK'].includes(word))
      throw new Error(`deploy/tree.ts does not know what ${word} does`)
  }
  const { root, workdir } = stage
  const below = (path: string) => (path.startsWith('/') ? join(root, path) : path)
  return {
    root,
    workdir: join(root, workdir),
    environment,
    entrypoint: (entrypoint ?? []).map(below),
    command: command ?? [],
    owned: owned.map(below),
    size: sizeOf(root) - statSync(below(nodePath)).size,
  }
}

function copy(checkout: string, { flags, text }: Instruction, stage: Stage, stages: ReadonlyMap<string, Stage>): void {
  const words = text.split(' ')
  const [sources, target = ''] = [words.slice(0, -1), words.at(-1)]
  const to = join(stage.root, posix.resolve(stage.workdir, target))
  const from = flags['from']
  const inFolder = sources.length > 1 || target.endsWith('/') || target === '.'
  for (const source of sources) {
    if (from !== undefined && systemPath.test(source)) {
      if (target !== nodePath) continue
      mkdirSync(dirname(to), { recursive: true })
      cpSync(process.execPath, to)
      continue
    }
    const root = from === undefined ? checkout : stages.get(from)?.root
    if (root === undefined) throw new Error(`there is no stage ${from}`)
    const path = join(root, source)
    const ignores = from === undefined ? ignored(checkout) : () => false
    const isFolder = lstatSync(path).isDirectory()
    mkdirSync(isFolder || !inFolder ? dirname(to) : to, { recursive: true })
    cpSync(path, isFolder || !inFolder ? to : join(to, basename(path)), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (file) => !ignores(file.slice(root.length + 1)),
    })
  }
}

/** Runs a line of a shell, with the Node.js that runs this. */
function run(line: string, cwd: string): void {
  // The machine has other files there than the image.
  if (/(^|[\s=])\//.test(line)) throw new Error(`a RUN must not name an absolute path: ${line}`)
  const entries = Object.entries(process.env).filter(([name]) => !/^npm_|^NODE_/i.test(name) || kept.test(name))
  const PATH = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`
  // What the cache of npm holds has been looked at: the lock names its bytes.
  const env = { ...Object.fromEntries(entries), PATH, npm_config_prefer_offline: 'true' }
  // What it says on standard error is in the error that is thrown when it fails.
  execFileSync('sh', ['-ec', line], { cwd, env, stdio: ['ignore', 'ignore', 'pipe'], maxBuffer: 64 * 1024 * 1024 })
}

/** Whether `.dockerignore` keeps a path of the checkout out: the last pattern that fits it, or a folder of it, decides. */
export function ignored(checkout: string): (path: string) => boolean {
  const patterns = readFileSync(join(checkout, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, not = '', glob = ''] = /^(!?)(.*)$/.exec(line) ?? []
      const source = glob
        .replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
        .replaceAll(/\*\*\/|\*/g, (star) => (star === '*' ? '[^/]*' : '(?:.*/)?'))
      return { keeps: not === '!', fits: new RegExp(`^${source}(?:/|$)`) }
    })
  return (path) => path !== '' && patterns.findLast(({ fits }) => fits.test(path))?.keeps === false
}

function sizeOf(path: string): number {
  const found = lstatSync(path)
  if (!found.isDirectory()) return found.size
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0)
}

if (import.meta.main) {
  const [, , folder] = process.argv
  if (folder === undefined) {
    console.error('usage: node deploy/tree.ts <folder>')
    process.exit(2)
  }
  const { root, size } = buildTree(resolve(import.meta.dirname, '..'), resolve(folder))
  console.log(`${root}: ${(size / 1e6).toFixed(1)} MB without Node.js`)
}
