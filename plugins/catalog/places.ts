import type { Model } from './model-schema.ts'

/** A place of a model, and where it stands in the record. */
export interface Place {
  readonly provider: string
  readonly upstreamModel: string
  readonly path: readonly (string | number)[]
}

/** The places of a model, its own provider first. */
export function placesIn({
  name,
  provider,
  upstream_model: upstreamModel = name,
  deployments,
}: Pick<Model, 'name' | 'provider' | 'upstream_model' | 'deployments'>): readonly Place[] {
  return [
    ...(provider === undefined ? [] : [{ provider, upstreamModel, path: ['provider'] }]),
    ...deployments.map((one, at) => ({
      provider: one.provider,
      upstreamModel: one.upstream_model ?? upstreamModel,
      path: ['deployments', at],
    })),
  ]
}
