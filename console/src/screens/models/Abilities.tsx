import { Tag } from '../../parts/Tag.tsx'
import type { AnyModel } from './api.ts'
import { words } from './words.ts'
import classes from './models.module.css'

/** The words for what a model takes. */
export const abilitiesOf = (model: AnyModel): readonly string[] =>
  (['images', 'tools', 'mapeval', 'realtime'] as const)
    .filter((one) => model[`supports_${one}`])
    .map((one) => words.capabilities[one])

export function Abilities({ model }: { readonly model: AnyModel }) {
  return (
    <span className={classes.tags}>
      {abilitiesOf(model).map((ability) => (
        <Tag key={ability}>{ability}</Tag>
      ))}
    </span>
  )
}
