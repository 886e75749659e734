import type { Vulnerability } from '../queries/client.ts';

/** @returns whether its status is one of what is over: nothing is late or left to decide then */
export const isClosed = ({
  vulnerability_status: { flow_type },
}: Pick<Vulnerability, 'vulnerability_status'>) => flow_type === 2;
