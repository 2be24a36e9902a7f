import { Link } from 'wouter';
import { activityText } from '../../../shared/activity/activity-bars.js';
import { ActivityGraph } from '../../../shared/activity/activity-graph.js';
import { useActivity } from '../../../shared/activity/use-activity.js';
import { paths } from '../../../shared/location/paths.js';

/** How much was done in the last 24 hours, which leads to the page of the activity. */
export function Pulse() {
  const activity = useActivity('24h');
  if (!activity || activity.counts.length === 0) return null;
  const text = `24 h: ${activityText(activity)}`;
  return (
    <Link href={paths.activity} className="hg-pulse" aria-label={text} title={text}>
      <span aria-hidden="true">24 h</span>
      <ActivityGraph activity={activity} aria-hidden="true" />
    </Link>
  );
}
