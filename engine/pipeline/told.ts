import type { Candidate } from '../spec/catalog.ts'
import type { ToldAttempt, ToldEnd, ToldError, ToldStage } from '../spec/telling.ts'
import { attempts, stages, toldError } from '../telling.ts'
import type { Telling } from '../telling.ts'
import type { Bag } from './bag.ts'
import type { RunScope, Step } from './step.ts'

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

function told<M extends ToldEnd>(step: Step, telling: Telling<M>, describe: (slots: Bag, scope: RunScope) => M): Step {
  return (slots, scope) =>
    telling.heard ? tell(step, telling.begin(describe(slots, scope)), slots, scope) : step(slots, scope)
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
