import type { Diagnostic } from '../config/diagnostics.ts'
import type { Environment } from '../config/interpolate.ts'
import type { Registry } from '../config/registry.ts'
import { readSource } from '../config/source.ts'
import { productVersion } from '../version.ts'
import { reportAt, stagesOf, within } from './nodes.ts'
import type { Pipeline } from './nodes.ts'
import { parsePipelines } from './parse.ts'

/**
 * Warns of copies of an earlier version's pipelines (`copied`) that lack stages which the product's own pipeline has.
 * An operator who wants none of them writes the present version, and the warning is gone.
 * @param covered the product's files in whose place files of the operator stand
 */
export function checkCopies(
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
