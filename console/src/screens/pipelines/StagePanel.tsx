import { Link } from '@tanstack/react-router'
import { Tag } from '../../parts/Tag.tsx'
import { valueText } from '../../picture/plan.ts'
import type { PlannedStep } from '../../picture/plan.ts'
import { slotsOfStep } from '../../picture/threads.ts'
import type { StepTimes } from '../../picture/runs.ts'
import classes from './StagePanel.module.css'
import { words } from './words.ts'

interface StagePanelProps {
  readonly step: PlannedStep
  readonly times: StepTimes | undefined
  readonly pipeline: string
  readonly since: string
  /** Selects the step that gives a slot. */
  readonly onSlot: (slot: string) => void
}

/** A step: its slots, its options with what gives each value, and how it ran. */
export function StagePanel({ step, times, pipeline, since, onSlot }: StagePanelProps) {
  const { name = step.kind, kind, options = [], timeout } = step
  const { needs, reads, provides, gives } = slotsOfStep(step)
  const rows = [
    { word: words.needs, slots: needs },
    { word: words.reads, slots: reads },
    { word: words.gives, slots: provides },
    { word: words.mayGive, slots: gives },
  ]
  return (
    <section className={classes.panel} aria-label={words.stage}>
      <h2>
        <code>{name}</code>
        {kind !== 'stage' && <span className={classes.faint}>{words.kinds[kind]}</span>}
      </h2>
      <dl className={classes.slots}>
        {rows.map(({ word, slots = [] }) =>
          slots.length === 0 ? null : (
            <div key={word}>
              <dt>{word}</dt>
              <dd>
                {slots.map((slot) => (
                  <button key={slot} type="button" onClick={() => onSlot(slot)}>
                    {slot}
                  </button>
                ))}
              </dd>
            </div>
          ),
        )}
      </dl>
      {options.length > 0 && (
        <table className={classes.options} aria-label={words.options(name)}>
          <thead>
            <tr>
              <th scope="col">{words.option}</th>
              <th scope="col">{words.value}</th>
              <th scope="col">{words.from}</th>
            </tr>
          </thead>
          <tbody>
            {options.map(({ name: option, value, from }) => (
              <tr key={option}>
                <td>
                  <code>{option}</code>
                </td>
                <td>
                  <code>{valueText(value)}</code>
                </td>
                <td>
                  {from === 'pipeline' ? (
                    <Tag look="accent">{words.origin(from, step.line)}</Tag>
                  ) : (
                    <Tag>{words.origin(from, step.line)}</Tag>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <dl className={classes.facts}>
        {timeout !== undefined && (
          <div>
            <dt>{words.longest}</dt>
            <dd>{timeout}</dd>
          </div>
        )}
        {times && (
          <div>
            <dt>{words.ran}</dt>
            <dd>{words.times(times.count)}</dd>
          </div>
        )}
        {times && times.failed > 0 && (
          <div>
            <dt>{words.failed}</dt>
            <dd>
              <Link to="/logs" search={{ result: ['failed', 'refused'], since, pipeline }} className={classes.failures}>
                {words.showFailures(times.failed)}
              </Link>
            </dd>
          </div>
        )}
      </dl>
    </section>
  )
}
