//! Which addresses webhooks may be sent to: those that the Internet reaches, and what `--webhook-allow` adds.

use ipnet::IpNet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Ranges of IPv4 that are not for everybody (IANA's registry of special-purpose addresses).
const SPECIAL_V4: [(Ipv4Addr, u8); 15] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),       // this network, and the unspecified address
    (Ipv4Addr::new(10, 0, 0, 0), 8),      // private
    (Ipv4Addr::new(100, 64, 0, 0), 10),   // shared, behind a carrier's NAT
    (Ipv4Addr::new(127, 0, 0, 0), 8),     // loopback
    (Ipv4Addr::new(169, 254, 0, 0), 16),  // link-local; metadata of cloud machines
    (Ipv4Addr::new(172, 16, 0, 0), 12),   // private
    (Ipv4Addr::new(192, 0, 0, 0), 24),    // assignments of the IETF
    (Ipv4Addr::new(192, 0, 2, 0), 24),    // documentation
    (Ipv4Addr::new(192, 88, 99, 0), 24),  // relays of 6to4
    (Ipv4Addr::new(192, 168, 0, 0), 16),  // private
    (Ipv4Addr::new(198, 18, 0, 0), 15),   // benchmarks
    (Ipv4Addr::new(198, 51, 100, 0), 24), // documentation
    (Ipv4Addr::new(203, 0, 113, 0), 24),  // documentation
    (Ipv4Addr::new(224, 0, 0, 0), 4),     // multicast
    (Ipv4Addr::new(240, 0, 0, 0), 4),     // reserved, and broadcast
];

/// What the Internet uses of IPv6. Outside lie loopback, link-local, unique local, multicast and the rest.
const GLOBAL_V6: (Ipv6Addr, u8) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// Ranges within it that are not for everybody.
const SPECIAL_V6: [(Ipv6Addr, u8); 4] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23), // assignments of the IETF: Teredo, ORCHID, benchmarks
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32), // documentation
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16), // 6to4: an IPv4 address, of whatever kind
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20), // documentation
];

/// Addresses of IPv6 that reach the IPv4 address in their last 32 bits, through NAT64 (RFC 6052).
const NAT64: (Ipv6Addr, u8) = (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96);

fn range((address, bits): (impl Into<IpAddr>, u8)) -> IpNet {
    IpNet::new_assert(address.into(), bits)
}

/// The address that is reached in fact: an IPv4 address may be written as one of IPv6.
fn reached(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) if range(NAT64).contains(&address) => {
            let [.., a, b, c, d] = v6.octets();
            Ipv4Addr::new(a, b, c, d).into()
        }
        address => address,
    }
}

/// Whether an address may be connected to: the Internet reaches it, or it is in one of the ranges that are allowed.
pub fn may_be_reached(address: IpAddr, allowed: &[IpNet]) -> bool {
    let address = reached(address);
    let special = match address {
        IpAddr::V4(_) => SPECIAL_V4.into_iter().map(range).any(|special| special.contains(&address)),
        IpAddr::V6(_) => {
            !range(GLOBAL_V6).contains(&address)
                || SPECIAL_V6.into_iter().map(range).any(|special| special.contains(&address))
        }
    };
    !special || allowed.iter().any(|range| range.contains(&address))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn may(address: &str, allowed: &[&str]) -> bool {
        let allowed: Vec<_> = allowed.iter().map(|range| range.parse().expect("a range")).collect();
        may_be_reached(address.parse().expect("an address"), &allowed)
    }

    const REFUSED: [&str; 41] = [
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "10.255.255.255",
        "100.64.0.1",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.254",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.192",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.1.1",
        "198.18.0.1",
        "198.51.100.7",
        "203.0.113.7",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::10.0.0.1",
        "64:ff9b::169.254.169.254",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:db8::1",
        "2002:a00:1::1",
        "2002:7f00:1::",
        "3fff::1",
        "fc00::1",
        "fd12:3456::1",
        "fe80::1",
        "ff02::1",
    ];

    #[test]
    fn nothing_within_a_network_is_reached() {
        for address in REFUSED {
            assert!(!may(address, &[]), "{address}");
        }
    }

    #[test]
    fn the_internet_is_reached() {
        for address in [
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.1",
            "198.20.0.0",
            "223.255.255.255",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
            "2001:4860:4860::8888",
            "2606:4700:4700::1111",
        ] {
            assert!(may(address, &[]), "{address}");
        }
    }

    #[test]
    fn what_is_allowed_is_reached_in_every_spelling_and_nothing_beside_it() {
        for (address, ranges, reached) in [
            ("10.1.2.3", &["10.1.0.0/16"][..], true),
            ("10.2.2.3", &["10.1.0.0/16"], false),
            ("::ffff:10.1.2.3", &["10.1.0.0/16"], true),
            ("64:ff9b::10.1.2.3", &["10.1.0.0/16"], true),
            ("127.0.0.1", &["127.0.0.1/32", "::1/128"], true),
            ("127.0.0.2", &["127.0.0.1/32", "::1/128"], false),
            ("::1", &["127.0.0.1/32", "::1/128"], true),
            ("fd00::1", &["fd00::/8"], true),
            ("fe80::1", &["fd00::/8"], false),
        ] {
            assert_eq!(may(address, ranges), reached, "{address} {ranges:?}");
        }
    }
}
