import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import type { Tier } from '../../../engine/index.ts'
import { clean } from '../../../plugins/classification/clean.ts'
import { features } from '../../../plugins/classification/features.ts'
import { gainsOf } from './gains.ts'
import type { Gain } from './gains.ts'

/** How a model did with a prompt. */
export interface Answered {
  /** From 0 (wrong) to 1 (right). */
  readonly score: number
  /** US dollars. */
  readonly cost_in: number
  readonly cost_out: number
}

/** A prompt with what several models made of it. */
export interface Row {
  readonly id: string
  readonly prompt: string
  readonly source: string
  /** Prompts of one family are alike: nothing is judged by what was learned from its own family. */
  readonly family: string
  /** A cheap model and a strong one. */
  readonly pair: readonly [string, string]
  readonly models: Readonly<Record<string, Answered>>
}

/** A row as it is learned from. */
export interface Example extends Row, Gain {
  readonly features: readonly number[]
  /** How often models of the class economy fail, from 0 to 1. */
  readonly fails: number
  /** The lowest tier whose models succeed. */
  readonly needed: Tier
  /** Only two models are known: whether the cheap one succeeds is all that is known. */
  readonly coarse: boolean
}

const path = new URL('./dev.jsonl.gz', import.meta.url)

/** The rows to learn from, and the SHA-256 of them. */
export function readExamples(): { readonly examples: readonly Example[]; readonly hash: string } {
  const bytes = gunzipSync(readFileSync(path))
  const rows = bytes
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row)
  const classes = classesOf(rows)
  const gains = gainsOf(rows)
  return {
    hash: createHash('sha256').update(bytes).digest('hex'),
    examples: rows.map((row, at) => ({
      ...row,
      ...labelsOf(row, classes.get(row.source) ?? []),
      ...(gains[at] as Gain),
    })),
  }
}

function labelsOf(row: Row, byCost: readonly string[]) {
  const known = byCost.filter((name) => row.models[name] !== undefined)
  const third = Math.max(1, Math.round(known.length / 3))
  const mean = (names: readonly string[]) =>
    names.reduce((sum, name) => sum + (row.models[name]?.score ?? 0), 0) / names.length
  const economy = mean(known.length === 2 ? [row.pair[0]] : known.slice(0, third))
  const balanced = mean(known.length === 2 ? [row.pair[1]] : known.slice(third, -third))
  const needed: Tier = economy >= 0.5 ? 'SIMPLE' : balanced >= 0.5 ? 'MEDIUM' : 'COMPLEX'
  return { features: features(clean(row.prompt).text), fails: 1 - economy, needed, coarse: known.length === 2 }
}

/** The models of each source, the cheapest on average first. */
function classesOf(rows: readonly Row[]): ReadonlyMap<string, readonly string[]> {
  const costs = new Map<string, Map<string, { sum: number; count: number }>>()
  for (const { source, models } of rows) {
    const own = costs.get(source) ?? new Map<string, { sum: number; count: number }>()
    costs.set(source, own)
    for (const [name, { cost_in: input, cost_out: output }] of Object.entries(models)) {
      const cost = own.get(name) ?? { sum: 0, count: 0 }
      own.set(name, { sum: cost.sum + input + output, count: cost.count + 1 })
    }
  }
  const mean = ([, { sum, count }]: [string, { sum: number; count: number }]) => sum / count
  return new Map(
    [...costs].map(([source, own]) => [source, [...own].sort((a, b) => mean(a) - mean(b)).map(([name]) => name)]),
  )
}
