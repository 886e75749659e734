import { once } from 'node:events';
import { createWriteStream } from 'node:fs';

const SERVICES = [
  ['22', 'ssh', 'OpenSSH', '9.2p1 Debian 2+deb12u3', 'cpe:/a:openbsd:openssh:9.2p1'],
  ['25', 'smtp', 'Postfix smtpd', '', 'cpe:/a:postfix:postfix'],
  ['53', 'domain', 'ISC BIND', '9.18.28', 'cpe:/a:isc:bind:9.18.28'],
  ['80', 'http', 'nginx', '1.25.3', 'cpe:/a:igor_sysoev:nginx:1.25.3'],
  ['111', 'rpcbind', '', '', ''],
  ['143', 'imap', 'Dovecot imapd', '', 'cpe:/a:dovecot:dovecot'],
  ['443', 'http', 'nginx', '1.25.3', 'cpe:/a:igor_sysoev:nginx:1.25.3'],
  ['445', 'netbios-ssn', 'Samba smbd', '4.17.12', 'cpe:/a:samba:samba:4.17.12'],
  ['993', 'imap', 'Dovecot imapd', '', 'cpe:/a:dovecot:dovecot'],
  ['2049', 'nfs', '', '', ''],
  ['3306', 'mysql', 'MariaDB', '10.11.6', 'cpe:/a:mariadb:mariadb:10.11.6'],
  ['5432', 'postgresql', 'PostgreSQL DB', '15.6', 'cpe:/a:postgresql:postgresql:15.6'],
  ['6379', 'redis', 'Redis key-value store', '7.0.15', 'cpe:/a:redislabs:redis:7.0.15'],
  ['8080', 'http', 'Jetty', '11.0.18', 'cpe:/a:eclipse:jetty:11.0.18'],
  ['9090', 'http', 'Prometheus', '2.48', 'cpe:/a:prometheus:prometheus:2.48'],
] as const;

/** Writes a report like `nmap -sV -oX` of at least this size. Every host has an address of its own. */
export async function writeNmapReport(file: string, bytes: number): Promise<number> {
  const stream = createWriteStream(file);
  let written = 0;
  const write = async (text: string): Promise<void> => {
    written += text.length;
    if (!stream.write(text)) await once(stream, 'drain');
  };
  await write(
    '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE nmaprun>\n' +
      '<nmaprun scanner="nmap" args="nmap -sV -oX report.xml 10.0.0.0/8" start="1780000000" version="7.93" xmloutputversion="1.05">\n' +
      '<scaninfo type="syn" protocol="tcp" numservices="1000" services="1-1000,2049,3306,5432,6379,8080,9090"/>\n' +
      '<verbose level="0"/>\n<debugging level="0"/>\n',
  );
  const ports = SERVICES.map(portElement).join('');
  let hosts = 0;
  while (written < bytes) {
    let chunk = '';
    for (let count = 0; count < 100; count += 1, hosts += 1) chunk += hostElement(hosts, ports);
    await write(chunk);
  }
  await write(
    `<runstats><finished time="1780009999" elapsed="9999" exit="success"/><hosts up="${hosts}" down="0" total="${hosts}"/></runstats>\n</nmaprun>\n`,
  );
  stream.end();
  await once(stream, 'finish');
  return written;
}

function portElement([number, name, product, version, cpe]: (typeof SERVICES)[number]): string {
  const details = `${product === '' ? '' : ` product="${product}"`}${version === '' ? '' : ` version="${version}"`}`;
  const inner = cpe === '' ? '' : `<cpe>${cpe}</cpe>`;
  return (
    `<port protocol="tcp" portid="${number}"><state state="open" reason="syn-ack" reason_ttl="64"/>` +
    `<service name="${name}"${details} extrainfo="protocol 2.0" method="probed" conf="10">${inner}</service></port>\n`
  );
}

function hostElement(number: number, ports: string): string {
  const address = `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`;
  return (
    `<host starttime="1780000100" endtime="1780000200"><status state="up" reason="echo-reply" reason_ttl="64"/>\n` +
    `<address addr="${address}" addrtype="ipv4"/>\n<hostnames>\n<hostname name="host-${number}.example.com" type="PTR"/>\n</hostnames>\n` +
    `<ports><extraports state="closed" count="985">\n<extrareasons reason="reset" count="985" proto="tcp"/>\n</extraports>\n${ports}</ports>\n` +
    `<times srtt="130" rttvar="50" to="100000"/>\n</host>\n`
  );
}
