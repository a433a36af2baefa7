import { duration } from '../format.ts'
import type { Slots } from './threads.ts'

export const words = {
  again: 'again',
  attempt: 'attempt',
  hidden: (slots: readonly string[]) => `Not drawn, because all lanes are taken: ${slots.join(', ')}.`,
  median: 'p50',
  most: 'p95',
  one: 'took',
  passes: (count: number) => (count === 1 ? '1 try' : `${count} tries`),
  slots: 'slots',
  stages: 'stages',
  switch: 'switch',
  time: 'time, √',
  tree: (name: string) => `Stages of ${name}`,
  tries: (over: string, tries: string) => `${over}, ${tries} tries`,
  /** What a screen reader says of a step. */
  step(name: string, kind: string, { needs = [], provides = [] }: Slots, ms: number | undefined) {
    const list = (slots: readonly string[]) => slots.join(' and ')
    return [
      name,
      kind,
      ...(needs.length > 0 ? [`needs ${list(needs)}`] : []),
      ...(provides.length > 0 ? [`gives ${list(provides)}`] : []),
      ...(ms === undefined
        ? []
        : [`median ${duration(ms).replace(' ms', ' milliseconds').replace(/ s$/, ' seconds')}`]),
    ].join(', ')
  },
  kinds: { stage: 'stage', folded: 'pipeline', use: 'pipeline', attempt: 'attempt', switch: 'switch' },
} as const
