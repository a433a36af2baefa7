import { Link } from '@tanstack/react-router'
import { Card } from '../../parts/Card.tsx'
import type { Model } from './api.ts'
import { words } from './words.ts'
import classes from './models.module.css'

/** The places that serve a model, in their order. */
export function Places({ model }: { readonly model: Model }) {
  const { provider, upstream_model: upstream, deployments, name } = model
  const own = provider === null ? [] : [{ provider, upstream_model: upstream, weight: 1 }]
  const places = [...own, ...deployments]
  return (
    <Card title={words.places} {...(places.length > 1 && { note: words.placesText })}>
      <ol className={classes.places}>
        {places.map((place) => (
          <li key={`${place.provider} ${place.upstream_model}`}>
            <Link to={`/providers/${encodeURIComponent(place.provider)}`}>{place.provider}</Link>
            <code>{place.upstream_model ?? name}</code>
            {places.length > 1 && <span className={classes.faint}>{`${words.share} ${place.weight ?? 1}`}</span>}
          </li>
        ))}
      </ol>
    </Card>
  )
}
