import type { Logger } from 'pino'
import type { Bag } from './bag.ts'
import type { Built, BuiltArm, BuiltAttempt, BuiltStep } from './built.ts'
import { passOver } from './finish.ts'
import { Limited, Trying } from './frames.ts'
import type { Pending } from './later.ts'
import { Running } from './running.ts'
import type { Instruction, Label, Program } from './running.ts'
import type { RunScope } from './step.ts'

export function programOf(built: Built, log: Logger, each: boolean): Program {
  const writer = new Writer()
  writer.write(built, each)
  return { instructions: writer.instructions, onwards: writer.onwards, each, log }
}

/** Runs a program like a `Step`. */
export function runProgram(program: Program, slots: Bag, scope: RunScope): Pending | undefined {
  return new Running(program, slots, scope).start()
}

class Writer {
  readonly instructions: Instruction[] = []
  readonly onwards: (Label | undefined)[] = []

  write(built: Built, each: boolean): void {
    switch (built.kind) {
      case 'stage':
        return this.#stage(built, each)
      case 'found':
        return this.#found(built.find, each)
      case 'steps':
        for (const step of built.steps) this.write(step, each)
        return
      case 'limited':
        return this.#limited(built.step, built.limit, each)
      case 'switch':
        return this.#switch(built.arms, each)
      case 'attempt':
        return this.#attempt(built, each)
    }
  }

  get #next(): number {
    return this.instructions.length + 1
  }

  #add(instruction: Instruction, onwards?: Label): void {
    this.instructions.push(instruction)
    this.onwards.push(onwards)
  }

  #here(label: Label): void {
    label.at = this.instructions.length
  }

  #stage(built: BuiltStep, each: boolean): void {
    const { stage, needs } = built
    const next = this.#next
    this.#add(
      (run) => {
        if (needs.length > 0) passOver(built, run.slots, run.scope)
        return run.stage(stage, next)
      },
      each ? { at: next } : undefined,
    )
  }

  #found(find: (slots: Bag) => BuiltStep, each: boolean): void {
    const next = this.#next
    this.#add((run) => run.stage(find(run.slots).stage, next), each ? { at: next } : undefined)
  }

  #limited(step: Built, limit: number, each: boolean): void {
    const start = this.#next
    this.#add((run) => {
      run.frame = new Limited(run, start - 1, limit)
      return start
    })
    this.write(step, each)
    const end = this.#next
    this.#add((run) => {
      ;(run.frame as Limited).leave(run)
      return end
    })
  }

  #switch(arms: readonly BuiltArm[], each: boolean): void {
    const end: Label = { at: 0 }
    for (const arm of arms) {
      const next = this.#next
      const other: Label = { at: 0 }
      this.#add((run) => (arm.matches(run.slots) ? next : other.at), each ? end : undefined)
      this.write(arm.run, each)
      this.#add(() => end.at)
      this.#here(other)
    }
    this.#here(end)
  }

  #attempt({ attempt, run, settles, otherwise }: BuiltAttempt, each: boolean): void {
    const end: Label = { at: 0 }
    const rescue: Label | undefined = otherwise && { at: 0 }
    const at = this.instructions.length
    const start = at + 2
    this.#add(
      (running) => {
        running.frame = new Trying(running, { attempt, settles, at, start, otherwise: rescue?.at })
        return at + 1
      },
      each ? end : undefined,
    )
    this.#add((running) => (running.frame as Trying).begin(running))
    this.write(run, false)
    this.#add((running) => {
      ;(running.frame as Trying).end(running)
      return end.at
    })
    if (rescue) this.#here(rescue)
    if (otherwise) this.write(otherwise, each)
    this.#here(end)
  }
}
