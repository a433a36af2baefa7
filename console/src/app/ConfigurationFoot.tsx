import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ago } from '../format.ts'
import { Status } from '../parts/Status.tsx'
import { systemInfo } from '../api/attention.ts'
import { configurationStatus } from '../api/status.ts'
import { words } from './words.ts'

/** Which configuration runs, at the foot of the rail. */
export function ConfigurationFoot({ className }: { readonly className: string | undefined }) {
  const { data: status } = useQuery(configurationStatus)
  const { data: system } = useQuery(systemInfo)
  if (!status) return <div className={className} />
  return (
    <div className={className} title={status.version}>
      <Link to="/configuration">
        {status.error ? (
          <Status state="bad">{words.refusedConfiguration}</Status>
        ) : (
          <Status state="good">{words.configuration(status.version.slice(0, 8))}</Status>
        )}
      </Link>
      <div>{[words.loadedAgo(ago(status.loaded_at)), system?.version].filter(Boolean).join(' · ')}</div>
    </div>
  )
}
