import type { Logger } from 'pino'
import { attemptStep } from './attempt.ts'
import type { Built, BuiltAttempt } from './built.ts'
import { limitedStep } from './deadline.ts'
import { eachStep, passOver } from './finish.ts'
import { stageStep } from './run.ts'
import { settlingTry } from './settle.ts'
import type { Step, RunScope } from './step.ts'
import type { Candidate } from '../spec/catalog.ts'
import type { ToldAttempt, ToldEnd, ToldError, ToldStage } from '../spec/telling.ts'
import { attempts, stages, toldError } from '../telling/channels.ts'
import type { Channels } from '../telling/channels.ts'
import type { Bag } from './bag.ts'

/** The pipeline whose steps are run. */
export interface Owner {
  readonly pipeline: string
  readonly log: Logger
}

/**
 * The plain meaning of built steps: each is a function that calls those inside it, and tells listeners. Programs
 * (`program.ts`) do the same with less work, and are compared with it.
 * @param each whether all neighbouring steps run even if some fail, as in `finally`
 */
export function interpreted(built: Built, owner: Owner, each: boolean): Step {
  switch (built.kind) {
    case 'stage': {
      const { stage, place, at, needs } = built
      const step = toldStage(stageStep(stage), { pipeline: owner.pipeline, stage: place.name, at })
      if (needs.length === 0) return step
      return (slots, scope) => {
        passOver(built, slots, scope)
        return step(slots, scope)
      }
    }
    case 'found':
      return (slots, scope) => interpreted(built.find(slots), owner, each)(slots, scope)
    case 'steps': {
      const steps = built.steps.map((step) => interpreted(step, owner, each))
      if (each) return eachStep(steps, owner.log)
      return async (slots, scope) => {
        for (const step of steps) await step(slots, scope)
      }
    }
    case 'limited':
      return limitedStep(interpreted(built.step, owner, each), built.limit)
    case 'switch': {
      const arms = built.arms.map(({ matches, run }) => ({ matches, run: interpreted(run, owner, each) }))
      return (slots, scope) => arms.find(({ matches }) => matches(slots))?.run(slots, scope)
    }
    case 'attempt':
      return interpretedAttempt(built, owner, each)
  }
}

function interpretedAttempt({ attempt, run, settles, otherwise }: BuiltAttempt, owner: Owner, each: boolean): Step {
  const tried = interpreted(run, owner, false)
  const told = toldTry(settles ? settlingTry(tried) : tried, { pipeline: owner.pipeline, at: attempt.options.at })
  return attemptStep(attempt, told, otherwise && interpreted(otherwise, owner, each))
}

/** The step of a stage, reported to listeners that are present when it begins. */
export function toldStage(step: Step, place: Pick<ToldStage, 'pipeline' | 'stage' | 'at'>): Step {
  return told<ToldStage>(step, stages, (_, { id, attempt }) => ({ exchange: id, attempt, ...place }))
}

/** The steps of a try with one candidate, reported in the same way. */
export function toldTry(run: Step, place: Pick<ToldAttempt, 'pipeline' | 'at'>): Step {
  return told<ToldAttempt>(run, attempts, (slots, { id, attempt }) => {
    const { model, provider } = slots.model as Candidate
    return { exchange: id, attempt, ...place, model: model.name, provider: provider.name }
  })
}

function told<M extends ToldEnd>(
  step: Step,
  channels: Channels<M>,
  describe: (slots: Bag, scope: RunScope) => M,
): Step {
  return (slots, scope) =>
    channels.heard ? tell(step, channels.begin(describe(slots, scope)), slots, scope) : step(slots, scope)
}

async function tell(step: Step, over: (error?: ToldError) => void, slots: Bag, scope: RunScope): Promise<void> {
  try {
    await step(slots, scope)
  } catch (thrown) {
    over(toldError(thrown))
    throw thrown
  }
  over()
}
