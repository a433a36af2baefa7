import { duration } from '../format.ts'
import { monoWidth, size, switchWords } from './measure.ts'
import type { Box } from './measure.ts'
import { optionOf, valueText } from './plan.ts'
import type { PlannedStep } from './plan.ts'
import type { Runs, Try } from './runs.ts'
import { words } from './words.ts'
import classes from './Picture.module.css'

/** The first option that the file sets, as far as it fits behind the name. */
function optionWords({ name = '', options = [] }: PlannedStep, width: number): string {
  const option = options.find(({ from }) => from === 'pipeline')
  if (!option || typeof option.value === 'object') return ''
  const text = `${option.name}: ${valueText(option.value)}`
  return 13 + monoWidth(name) + 8 + text.length * 6.7 < width - 6 ? text : ''
}

/** The step of the heat scale, 1 to 5. */
const heat = (ms: number): number => [0.1, 0.3, 3, 100].filter((border) => ms >= border).length + 1

/** The looks of one step: a box, a diamond, or the head of a frame. */
export function StepBox({ box, runs }: { readonly box: Box; readonly runs: Runs }) {
  const { kind, step, x, y, width, height, row } = box
  const { name = '', file } = step
  if (kind === 'switch') return <Diamond box={box} />
  if (kind === 'attempt') return <AttemptHead box={box} runs={runs} />
  if (kind === 'use')
    return (
      <>
        <rect className={classes.hit} x={x + 1} y={y + 1} width={width - 2} height={26} rx={8} />
        <text className={classes.words} x={x + 54} y={y + 18}>
          <tspan className={classes.strong}>{name}</tspan>
          <tspan className={classes.mono} dx={8}>
            {inner(step)?.split('/').at(-1) ?? file}
          </tspan>
        </text>
      </>
    )
  const time = runs.timeOf(step)
  return (
    <>
      <rect
        className={kind === 'folded' ? classes.folded : classes.box}
        x={x}
        y={y}
        width={width}
        height={height}
        rx={6}
      />
      <rect className={classes[`heat${heat(time?.p50 ?? 0)}`]} x={x} y={y} width={5} height={height} rx={2} />
      <text className={classes.name} x={x + 13} y={y + 17}>
        {name}
        <tspan className={classes.option} dx={8}>
          {optionWords(step, width)}
        </tspan>
      </text>
      {!row && time && (
        <text className={classes.words} x={x + width - 8} y={y + 17} textAnchor="end">
          {duration(time.p50)}
        </text>
      )}
    </>
  )
}

/** The file of an included pipeline, which its steps know. */
const inner = (step: PlannedStep): string | undefined => step.do?.[0]?.file

function Diamond({ box: { step, x, y } }: { readonly box: Box }) {
  return (
    <>
      <path className={classes.box} d={`M${x} ${y + 12}l14-12 14 12-14 12z`} />
      <text className={classes.mono} x={x + 36} y={y + 7}>
        {words.switch}
        <tspan className={classes.condition} dx={7}>
          {switchWords(step)}
        </tspan>
      </text>
    </>
  )
}

function AttemptHead({ box: { step, x, y, width }, runs }: { readonly box: Box; readonly runs: Runs }) {
  const over = valueText(optionOf(step, 'over') ?? '')
  return (
    <>
      <rect className={classes.hit} x={x + 1} y={y + 1} width={width - 2} height={26} rx={7} />
      <text className={classes.mono} x={x + 44} y={y + 19}>
        {words.attempt}
        <tspan className={classes.condition} dx={7}>
          {runs.one ? words.passes(runs.tries.length) : words.tries(over, valueText(optionOf(step, 'tries') ?? ''))}
        </tspan>
      </text>
      {runs.tries.map((one, index) => (
        <Pass
          key={index}
          number={index + 1}
          tried={one}
          again={index + 1 < runs.tries.length}
          x={x}
          y={y + size.head + index * size.pass}
          width={width}
        />
      ))}
    </>
  )
}

interface PassProps {
  /** From 1. */
  readonly number: number
  readonly tried: Try
  /** Whether another one follows. */
  readonly again: boolean
  readonly x: number
  readonly y: number
  readonly width: number
}

/** One try of an attempt: who was asked, what came of it, and how long that took. */
function Pass({ number, tried: { model, status, error, duration_ms }, again, x, y, width }: PassProps) {
  const look = error === null ? classes.strong : classes.failed
  return (
    <>
      <text className={classes.words} x={x + 44} y={y + 12}>
        {`${number}`}
        <tspan className={`${classes.mono} ${look}`} x={x + 62}>
          {`${model} ${status ?? error ?? ''}`}
        </tspan>
        <tspan className={look} x={x + width - 28} textAnchor="end">
          {duration(duration_ms)}
        </tspan>
      </text>
      {again && <path className={classes.pass} d={`M${x + width - 22} ${y + 8}h5q6 0 6 6v6q0 6-6 6h-4m4-4-4 4 4 4`} />}
    </>
  )
}
