import { useMemo, useRef, useState } from 'react'
import type { KeyboardEvent } from 'react'
import { share } from '../format.ts'
import { layout } from './layout.ts'
import type { Layout } from './layout.ts'
import type { Box } from './measure.ts'
import type { Plan } from './plan.ts'
import type { Runs } from './runs.ts'
import { StepBox } from './StepBox.tsx'
import { Threads } from './Threads.tsx'
import { slotsOfStep } from './threads.ts'
import { Times } from './Times.tsx'
import { words } from './words.ts'
import classes from './Picture.module.css'

interface PictureProps {
  readonly name: string
  readonly plan: Plan
  readonly runs: Runs
  /** The path of the selected step. */
  readonly selected: string | undefined
  readonly onSelect: (path: string) => void
}

/** A pipeline from top to bottom: its steps on a trunk, its slots as threads at the left, its times at the right. */
export function Picture({ name, plan, runs, selected, onSelect }: PictureProps) {
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set())
  const [hot, setHot] = useState<string>()
  const [slot, setSlot] = useState<string>()
  const tries = runs.tries.length
  const places = useMemo(() => layout(plan, folded, tries), [plan, folded, tries])
  const { boxes, threads, width, height, times, hidden } = places
  const tree = useRef<SVGSVGElement>(null)
  const touching = (path: string | undefined) =>
    threads.filter(({ marks }) => marks.some((mark) => mark.path === path)).map((thread) => thread.slot)
  const pointed = slot === undefined ? touching(hot) : [slot]
  const lit = new Set(pointed.length > 0 ? pointed : touching(selected))
  const linked = new Set(
    threads.filter((thread) => pointed.includes(thread.slot)).flatMap(({ marks }) => marks.map(({ path }) => path)),
  )
  const fold = (path: string) =>
    setFolded((before) => new Set(before.has(path) ? [...before].filter((one) => one !== path) : [...before, path]))
  const choose = ({ kind, step }: Box) => {
    if (kind === 'use' || kind === 'folded') fold(step.path)
    onSelect(step.path)
  }
  const current = boxes.some(({ step }) => step.path === selected) ? selected : boxes[0]?.step.path
  const move = (event: KeyboardEvent, box: Box) => {
    const at = boxes.indexOf(box)
    const to = targetOf(event.key, boxes, at)
    if (event.key === 'Enter' || event.key === ' ') choose(box)
    else if (event.key === 'ArrowLeft' && box.kind === 'use') fold(box.step.path)
    else if (event.key === 'ArrowRight' && box.kind === 'folded') fold(box.step.path)
    else if (to !== undefined) tree.current?.querySelectorAll<SVGGElement>('[role=treeitem]')[to]?.focus()
    else return
    event.preventDefault()
  }
  const lookOf = ({ step, kind }: Box) =>
    [
      classes.step,
      step.path === selected && classes.selected,
      runs.one && runs.idle(step.path) && classes.dim,
      !runs.one &&
        pointed.length > 0 &&
        kind === 'stage' &&
        !linked.has(step.path) &&
        step.path !== hot &&
        classes.faded,
    ]
      .filter(Boolean)
      .join(' ')
  return (
    <div className={classes.scroll} tabIndex={-1}>
      <svg
        ref={tree}
        role="tree"
        aria-label={words.tree(name)}
        className={classes.picture}
        width={width}
        height={height}
      >
        <g aria-hidden="true">
          <Grounds places={places} runs={runs} />
          <Threads threads={threads} lit={lit} fade={pointed.length > 0} onPoint={setSlot} />
        </g>
        {boxes.map((box) => {
          const { kind, step, level } = box
          const label = words.step(step.name ?? step.kind, words.kinds[kind], slotsOfStep(step), runs.timeOf(step)?.p50)
          return (
            <g
              key={step.path}
              role="treeitem"
              aria-level={level}
              aria-label={label}
              aria-selected={step.path === selected}
              aria-expanded={kind === 'use' ? true : kind === 'folded' ? false : undefined}
              tabIndex={step.path === current ? 0 : -1}
              className={lookOf(box)}
              onClick={() => choose(box)}
              onKeyDown={(event) => move(event, box)}
              onFocus={() => setHot(step.path)}
              onBlur={() => setHot(undefined)}
              onPointerEnter={() => setHot(step.path)}
              onPointerLeave={() => setHot(undefined)}
            >
              <StepBox box={box} runs={runs} />
            </g>
          )
        })}
        <Times boxes={boxes} runs={runs} x={times} />
      </svg>
      {hidden.length > 0 && <p className={classes.hidden}>{words.hidden(hidden)}</p>}
    </div>
  )
}

/** Where a key leads from a step: the next and the one before, the first and the last, the step around and the first within. */
function targetOf(key: string, boxes: readonly Box[], at: number): number | undefined {
  const level = boxes[at]?.level ?? 1
  if (key === 'ArrowDown') return Math.min(at + 1, boxes.length - 1)
  if (key === 'ArrowUp') return Math.max(at - 1, 0)
  if (key === 'Home') return 0
  if (key === 'End') return boxes.length - 1
  if (key === 'ArrowLeft') {
    const around = boxes.slice(0, at).findLastIndex((box) => box.level < level)
    return around === -1 ? undefined : around
  }
  return key === 'ArrowRight' && (boxes[at + 1]?.level ?? 0) > level ? at + 1 : undefined
}

/** What lies behind the steps: the grounds of included pipelines, the frames of attempts, the trunk and its arms. */
function Grounds({ places, runs }: { readonly places: Layout; readonly runs: Runs }) {
  const { boxes, wires, labels, arrows } = places
  const off = (arm: string | undefined) => arm !== undefined && runs.idle(arm)
  return (
    <>
      {boxes.map(({ kind, step, x, y, width, height }) =>
        kind === 'use' || kind === 'attempt' ? (
          <rect key={step.path} className={classes[kind]} x={x} y={y} width={width} height={height} rx={9} />
        ) : null,
      )}
      {wires.map(({ points, arm, dotted }, index) => (
        <path
          key={index}
          className={`${classes.wire} ${dotted || off(arm) ? classes.dashes : ''} ${runs.one && off(arm) ? classes.dim : ''}`}
          d={`M${points.map((point) => point.join(' ')).join('L')}`}
        />
      ))}
      {labels.map(({ x, y, text, arm }) => {
        const part = arm === undefined ? undefined : runs.shareOf(arm)
        return (
          <text key={`${x} ${y}`} className={`${classes.words} ${runs.one && off(arm) ? classes.dim : ''}`} x={x} y={y}>
            {text}
            {part !== undefined && (
              <tspan className={classes.faint} dx={5}>
                {share(part)}
              </tspan>
            )}
          </text>
        )
      })}
      {arrows.map(({ path, x, from, to }) => {
        const part = runs.againOf(path)
        return (
          <g key={path} className={classes.again}>
            <path d={`M${x} ${from}h18q9 0 9-9V${to + 9}q0-9-9-9h-14m5-5-6 5 6 5`} />
            {part !== undefined && (
              <text x={x + 31} y={(from + to) / 2}>
                {share(part)}
              </text>
            )}
            <text className={classes.faint} x={x + 31} y={(from + to) / 2 + 14}>
              {words.again}
            </text>
          </g>
        )
      })}
    </>
  )
}
