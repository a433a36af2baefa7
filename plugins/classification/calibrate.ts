import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { defineCommand } from '../../engine/index.ts'
import type { JsonObject } from '../../engine/index.ts'
import { isObject, parsedJson, printJson, tiers, timeText } from '../../engine/kit.ts'
import type { ConfidenceMap, Label } from './confidence-map.ts'
import { fewest, refit } from './refit.ts'
import type { FittedMap } from './refit.ts'

/** Fits the confidence of decisions to what people said of them here. */
export default defineCommand({
  name: 'calibrate',
  summary: 'Fit the confidence of routing decisions to feedback, or to labels of a file.',
  options: {
    type: 'object',
    additionalProperties: false,
    properties: {
      labels: {
        type: 'string',
        description:
          'File with a line {"raw": 0.7, "right": 1, "tier": "SIMPLE"} per decision; default: the feedback in the database. Labels without a tier are left out, unless most have none: then one line is fitted for all.',
      },
      since: { type: 'string', description: 'Only feedback from this time on (RFC 3339).' },
      dry_run: { type: 'boolean', default: false, description: 'Show the map, and store nothing.' },
      to: { type: 'string', description: 'Use this version again, and fit nothing.' },
    },
  } as const,
  uses: ['calibration'],
  async run({ labels: path, since, dry_run: dry, to }, { calibration }, { json, out, error, folder }) {
    const refuse = (because: string) => {
      error(because)
      return 1
    }
    if (to !== undefined) {
      const used = await calibration.use(to)
      if (!used) return refuse(`There is no confidence map of version "${to}".`)
      out(json ? printJson(shown(used)) : `The confidence map ${used.version} is used.`)
      return 0
    }
    const from = since === undefined ? 0 : Date.parse(since)
    if (Number.isNaN(from)) return refuse(`"${since}" is no time. Write it as ${timeText(0)}.`)
    const labels =
      path === undefined ? await calibration.feedback(from) : labelsIn(await readFile(resolve(folder, path), 'utf8'))
    if (typeof labels === 'string') return refuse(`${path}: ${labels}`)
    if (labels.length < fewest) return refuse(`There are ${labels.length} labels; at least ${fewest} are needed.`)
    const { current } = calibration
    const fitted = refit(labels, current)
    const { brier_before: before, brier_after: after } = fitted
    if (!(after < before)) {
      if (dry && json) out(printJson(shown(fitted)))
      return refuse(`The map ${current.version} stays: its Brier score is ${before}, that of a new one ${after}.`)
    }
    const stored = dry ? undefined : await calibration.store(fitted)
    if (json) out(printJson(shown(stored ?? fitted)))
    else {
      const left = labels.length - fitted.labels
      const leftOut = left === 0 ? '' : `; ${left} without a tier left out`
      out(
        `${stored ? `The confidence map ${stored.version} is used` : 'A new confidence map would be used'}: ` +
          `${fitted.kind}, from ${fitted.labels} labels${leftOut}. Brier score: ${after}, before: ${before}.`,
      )
    }
    return 0
  },
})

function shown(map: ConfidenceMap | FittedMap): JsonObject {
  return { ...map }
}

/** The labels of a file; a text: what is wrong with it. */
function labelsIn(text: string): readonly Label[] | string {
  const labels: Label[] = []
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const label = labelIn(line)
    if (typeof label === 'string') return `line ${at + 1} ${label}`
    labels.push(label)
  }
  return labels
}

const form = 'must be {"raw": a number from 0 to 1, "right": 0 or 1}'

/** The label of a line; a text: what is wrong with the line. */
function labelIn(line: string): Label | string {
  const value = parsedJson(line)
  if (!isObject(value)) return form
  const { raw, right, tier: named } = value
  const tier = tiers.find((one) => one === named)
  if (typeof raw !== 'number' || raw < 0 || raw > 1 || (right !== 0 && right !== 1)) return form
  if (named !== undefined && tier === undefined) return 'has a "tier" that is not SIMPLE, MEDIUM or COMPLEX'
  return { raw, right, ...(tier && { tier }) }
}
