import { readFile } from 'node:fs/promises'
import { dirname, relative } from 'node:path'
import type { Diagnostic } from '../config/diagnostics.ts'
import { filesOf, foldersOf, hashContents, readFolder, unreadFile } from '../config/files.ts'
import type { Folder } from '../config/files.ts'
import type { Environment } from '../config/interpolate.ts'
import { display } from '../config/diagnostics.ts'
import type { Registry } from '../config/registry.ts'
import { readSource } from '../config/source.ts'
import { withActions } from '../pipeline/action-routes.ts'
import { unusedAliases, withAliases } from '../pipeline/aliases.ts'
import type { Aliases } from '../pipeline/aliases.ts'
import { checkBodies } from './check-bodies.ts'
import { checkOrder } from './check-order.ts'
import { checkDuties, waivedDuties } from './check-duties.ts'
import type { Advice } from './check-duties.ts'
import { checkSettles } from './check-settles.ts'
import { checkFlow } from './flow.ts'
import { namesOf, unknownNames, wordsOf } from '../pipeline/named.ts'
import type { KnownNames } from '../pipeline/named.ts'
import type { Pipeline, Place } from '../pipeline/nodes.ts'
import { parsePipelines } from '../pipeline/parse.ts'
import { productVersion } from '../version.ts'
import { reportAt, stagesOf, within, printPlace } from '../pipeline/nodes.ts'
import { routeKey } from '../actions/declarations.ts'

/** The pipelines of a folder, checked. */
export interface LoadedPipelines {
  readonly pipelines: readonly Pipeline[]
  readonly diagnostics: readonly Diagnostic[]
  /** Probable mistakes that do not prevent serving. */
  readonly warnings: readonly Diagnostic[]
  /** Warnings that depend on settings. */
  readonly advice: readonly Advice[]
  /** What an operator wants on purpose, and should not forget. */
  readonly notes: readonly Diagnostic[]
  readonly files: readonly string[]
  /** Hash of the files' contents. */
  readonly hash: string
  readonly folders: readonly string[]
  /** The user's own folder, if it does not exist. */
  readonly missing: string | undefined
}

/** A pipeline file's name and text. */
export interface PipelineText {
  readonly file: string
  readonly text: string
  /** Whether the file is one of the product. */
  readonly shipped?: boolean
  /** The product's file in whose place it stands. */
  readonly covers?: { readonly file: string; readonly text: string } | undefined
}

/**
 * Pipeline folders: those of the product, and those of the user, whose files replace product files of the same name.
 */
interface PipelineFolders {
  readonly own: string
  readonly shipped?: string | undefined
  /** File names in findings are relative to this folder. */
  readonly root: string
}

/**
 * Reads every pipeline file (`*.yaml`, `*.yml`; not `*.test.yaml`) of the folders, recursively. An empty file of the
 * user removes the product's file of that name.
 */
export async function loadPipelines(
  { own, shipped, root }: PipelineFolders,
  registry: Registry,
  environment: Environment,
  records?: KnownNames,
): Promise<LoadedPipelines> {
  const layers = await readLayers(own, shipped)
  const files = layers.files.filter((file) => !isFixture(file))
  const read = async (file: string) => ({ file: display(file, root), text: await readFile(file, 'utf8') })
  const texts = await Promise.all(
    files.map(async (file) => {
      const covered = layers.covering.get(file)
      const covers = covered === undefined ? undefined : await read(covered)
      return { ...(await read(file)), shipped: layers.shipped.has(file), covers }
    }),
  )
  const hash = hashContents(texts.map(({ file, text }) => ({ file, content: text })))
  const wanted = texts.filter(({ text }, index) => !layers.covering.has(files[index] ?? '') || text.trim() !== '')
  const { folders, missing } = layers
  const checked = checkPipelines(wanted, registry, environment, records)
  const unread = layers.unread.map((file) => unreadFile(display(file, root), 'pipelines', '.yaml or .yml'))
  return { ...checked, warnings: [...checked.warnings, ...unread], files, hash, folders, missing }
}

/** The fixture files of the folders; a user's file replaces a product file of the same name. */
export async function findFixtures({ own, shipped, root }: PipelineFolders): Promise<string[]> {
  const { files } = await readLayers(own, shipped)
  return files.filter(isFixture).map((file) => display(file, root))
}

/**
 * Parses and checks all pipelines together.
 * @param records names of records that stages may refer to, by type; unset: any name
 */
export function checkPipelines(
  texts: readonly PipelineText[],
  registry: Registry,
  environment: Environment,
  records: KnownNames = {},
): Omit<LoadedPipelines, 'files' | 'hash' | 'folders' | 'missing'> {
  const diagnostics: Diagnostic[] = []
  const aliases: Aliases[] = []
  const covered = texts.flatMap(({ covers }) => covers ?? [])
  let incomplete = false
  const parsedOnes = texts.flatMap(({ file, text, shipped }) => {
    const read = readSource(file, text, environment)
    diagnostics.push(...read.diagnostics)
    if (read.source.value === null && read.diagnostics.length > 0) {
      incomplete = true
      return []
    }
    const parsed = parsePipelines(read.source, registry, shipped)
    diagnostics.push(...parsed.diagnostics)
    aliases.push(...parsed.aliases)
    return parsed.pipelines
  })
  const { pipelines, diagnostics: misplaced } = withActions(parsedOnes, registry.actions)
  diagnostics.push(...misplaced)
  const known: KnownNames = {
    ...records,
    ...wordsOf(registry),
    ...(incomplete ? {} : { pipeline: { words: pipelines.map(({ name }) => name) } }),
  }
  const named = [...checkNames(pipelines), ...unknownNames(namesOf(pipelines), known)]
  const flow = [...checkFlow(pipelines, registry, incomplete), ...checkSettles(pipelines), ...checkBodies(pipelines)]
  const { diagnostics: unpaid, advice } = checkDuties(pipelines, registry)
  const found = Object.groupBy(diagnostics, ({ warning }) => (warning ? 'warnings' : 'errors'))
  const isSound = !incomplete && (found.errors ?? []).length + named.length + flow.length + unpaid.length === 0
  const doubtful = isSound
    ? [...checkOrder(pipelines, namedByCommands(registry)), ...checkCopies(pipelines, covered, registry, environment)]
    : []
  return {
    pipelines: withAliases(pipelines, aliases),
    diagnostics: [...(found.errors ?? []), ...named, ...flow, ...unpaid],
    warnings: [...(found.warnings ?? []), ...(incomplete ? [] : unusedAliases(pipelines, aliases)), ...doubtful],
    advice,
    notes: waivedDuties(pipelines),
  }
}

function namedByCommands({ commands }: Registry): readonly string[] {
  return [...commands.values()].flatMap((command) => command.pipelines ?? [])
}

interface Layers {
  /** Every effective YAML file. */
  readonly files: readonly string[]
  readonly folders: readonly string[]
  /** The user's files among them that replace a product file, and the latter. */
  readonly covering: ReadonlyMap<string, string>
  /** The user's files that are no pipelines by their names alone. */
  readonly unread: readonly string[]
  /** The product's files among them. */
  readonly shipped: ReadonlySet<string>
  readonly missing: string | undefined
}

async function readLayers(own: string, shipped: string | undefined): Promise<Layers> {
  const tree = await readFolder(own).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error
    return undefined
  })
  const base = shipped === undefined ? undefined : await readFolder(shipped)
  const mine = tree === undefined || tree.path === base?.path ? [] : named(tree)
  const names = new Map(mine)
  const brought = base === undefined ? [] : named(base)
  const kept = brought.filter(([name]) => !names.has(name))
  return {
    files: [...kept, ...mine].map(([, file]) => file),
    shipped: new Set(kept.map(([, file]) => file)),
    folders: [...(base ? foldersOf(base) : []), ...(tree ? foldersOf(tree) : [dirname(own)])],
    covering: new Map(brought.flatMap(([name, file]) => pairOf(names.get(name), file))),
    unread:
      tree === undefined
        ? []
        : filesOf(tree).filter((file) => /\.(ya?ml\.txt|ya?ml|json)$/i.test(file) && !isYaml(file)),
    missing: tree === undefined ? own : undefined,
  }
}

function pairOf(one: string | undefined, other: string): [string, string][] {
  return one === undefined ? [] : [[one, other]]
}

/** The YAML files of a folder, by relative name without extension. */
function named(folder: Folder): [string, string][] {
  return filesOf(folder)
    .filter(isYaml)
    .map((file) => [relative(folder.path, file).replace(/\.ya?ml$/, ''), file])
}

function isYaml(file: string): boolean {
  return /\.ya?ml$/.test(file)
}

function isFixture(file: string): boolean {
  return /\.test\.ya?ml$/.test(file)
}

/**
 * Warns of copies of an earlier version's pipelines (`copied`) that lack stages which the product's own pipeline has.
 * An operator who wants none of them writes the present version, and the warning is gone.
 * @param covered the product's files in whose place files of the operator stand
 */
function checkCopies(
  pipelines: readonly Pipeline[],
  covered: readonly { readonly file: string; readonly text: string }[],
  registry: Registry,
  environment: Environment,
): Diagnostic[] {
  const marked = pipelines.filter(({ copied }) => copied !== undefined)
  if (marked.length === 0) return []
  const version = productVersion()
  const copies = marked.filter(({ copied }) => copied !== version)
  const originals = covered.flatMap(({ file, text }) => {
    return parsePipelines(readSource(file, text, environment).source, registry, true).pipelines
  })
  const byName = new Map(pipelines.map((pipeline) => [pipeline.name, pipeline]))
  const namesOf = ({ stages, finally: last }: Pipeline) =>
    new Set(stagesOf([...stages, ...last], byName).map(({ stage }) => stage.name))
  return copies.flatMap((copy) => {
    const original = originals.find(({ name }) => name === copy.name)
    const missing = original ? [...namesOf(original).difference(namesOf(copy))] : []
    if (missing.length === 0) return []
    const words = missing.map((stage) => `"${stage}"`).join(', ')
    const message = `"${copy.name}" was copied from version ${copy.copied} and lacks ${words} of version ${version}; add what it needs ("sluice explain" shows where), then write "copied: ${version}"`
    return [{ ...reportAt(within(copy.place, 'copied'), 'copied', message), warning: true as const }]
  })
}

/** Finds routes and names claimed by two pipelines, and routes that cannot be served as sockets. */
export function checkNames(pipelines: readonly Pipeline[]): Diagnostic[] {
  const taken = new Map<string, Place>()
  const claim = (key: string, what: string, place: Place): Diagnostic[] => {
    const other = taken.get(key)
    if (other === undefined) taken.set(key, place)
    return other === undefined ? [] : [reportAt(place, 'duplicate', `${what} is already there: ${printPlace(other)}`)]
  }
  return pipelines.flatMap(({ name, routes, relays, place }) => [
    ...(name === '' ? [] : claim(`pipeline ${name}`, `the pipeline "${name}"`, within(place, 'name'))),
    ...routes.flatMap(({ method, path }, index) => [
      ...claim(routeKey({ method, path }), `the route "${method} ${path}"`, within(place, 'routes', index)),
      ...(relays && method !== 'WS' ? [noSocket(method, within(place, 'routes', index))] : []),
    ]),
  ])
}

function noSocket(method: string, place: Place): Diagnostic {
  const message = `a pipeline with "socket: relay" serves only WebSockets, and this route is ${method}`
  return reportAt(place, 'no-socket', message)
}
