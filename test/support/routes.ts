import { stagesOf } from '../../engine/pipeline/nodes.ts'
import type { Pipeline, Route } from '../../engine/pipeline/nodes.ts'
import { configuration } from '../rules/registry.ts'

/** A route of the shipped pipelines. */
export interface ShippedRoute {
  readonly method: string
  readonly path: string
  /** What a client has to show; `public`: nothing; `by <stage>`: another stage than `auth` decides. */
  readonly shows: string
  /** Lowest role of a member. */
  readonly role?: string
  /** Whether members may ask it who must change their password first. */
  readonly pending: boolean
}

/** Every route of the shipped pipelines, with the access that its YAML or its action declares. */
export async function shippedRoutes(): Promise<readonly ShippedRoute[]> {
  const { pipelines } = await configuration()
  const byName = new Map(pipelines.map((pipeline) => [pipeline.name, pipeline]))
  return pipelines.flatMap((pipeline) =>
    pipeline.routes.map(({ method, path, action }) => ({
      method,
      path,
      ...(action ? accessOfAction(action) : accessOf(pipeline, byName)),
    })),
  )
}

function accessOfAction({ access }: Route['action'] & object): Omit<ShippedRoute, 'method' | 'path'> {
  if ('public' in access) return { shows: 'public', pending: true }
  if ('key' in access) return { shows: 'key', pending: false }
  const { role, also = [] } = access
  return { shows: 'session', ...(role === 'any' ? {} : { role }), pending: also.includes('pending') }
}

function accessOf(
  { public: open, stages }: Pipeline,
  byName: ReadonlyMap<string, Pipeline>,
): Omit<ShippedRoute, 'method' | 'path'> {
  if (open) return { shows: 'public', pending: true }
  const asking = stagesOf(stages, byName).find(({ stage }) => stage.provides.includes('principal'))
  const { with: shows, role, also } = asking?.config ?? {}
  return {
    shows: typeof shows === 'string' ? shows : `by ${asking?.stage.name}`,
    ...(typeof role === 'string' ? { role } : {}),
    pending: Array.isArray(also) && also.includes('pending'),
  }
}
