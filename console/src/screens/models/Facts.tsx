import { Card } from '../../parts/Card.tsx'
import { Moment } from '../../parts/Moment.tsx'
import type { Model } from './api.ts'
import { words } from './words.ts'
import classes from './models.module.css'

const names = words.factsOf

/** From where a model's record and its prices are, and since when. */
export function Facts({ model }: { readonly model: Model }) {
  const {
    source,
    pricing_source: pricing,
    listed_pricing: listed,
    priced_at: priced,
    created_at: made,
    updated_at: changed,
    aliases,
  } = model
  const moments = { [names.priced]: priced, [names.made]: made, [names.changed]: changed }
  return (
    <Card title={words.facts}>
      <dl className={classes.facts}>
        <dt>{names.source}</dt>
        <dd>{words.sources[source]}</dd>
        <dt>{names.pricing}</dt>
        <dd>
          {words.pricingSources[pricing]}
          {listed && `: ${new URL(listed.source).host}`}
        </dd>
        {aliases.length > 0 && (
          <>
            <dt>{names.aliases}</dt>
            <dd>{aliases.join(', ')}</dd>
          </>
        )}
        {Object.entries(moments).map(([name, moment]) =>
          moment === null ? null : (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <Moment at={moment} />
              </dd>
            </div>
          ),
        )}
      </dl>
    </Card>
  )
}
