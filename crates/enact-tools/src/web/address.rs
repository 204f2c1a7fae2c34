//! Distinguishes public addresses from those of this machine and its network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is public.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation()
        || a == 0
        // Carrier-grade NAT; clouds also use it for services.
        || (a == 100 && (64..128).contains(&b))
        || (a, b, c) == (192, 0, 0)
        || (a, b, c) == (192, 88, 99)
        // Benchmarking, and reserved ranges.
        || (a == 198 && (b == 18 || b == 19))
        || a >= 240
        // Looks public, but is an internal service in one cloud.
        || address == Ipv4Addr::new(168, 63, 129, 16);
    !is_special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let low = Ipv4Addr::from((u32::from(parts[6]) << 16) | u32::from(parts[7]));
    let second = Ipv4Addr::from((u32::from(parts[1]) << 16) | u32::from(parts[2]));
    match parts {
        // IPv4 in IPv6: mapped, compatible (including `::1`), translated.
        [0, 0, 0, 0, 0, 0xffff, ..] => is_public_v4(low),
        [0, 0, 0, 0, 0, 0, ..] => false,
        [0x64, 0xff9b, 0, 0, 0, 0, ..] => is_public_v4(low),
        [0x2002, ..] => is_public_v4(second),
        // Only ranges assigned to the public, without tunnels and examples.
        [0x2001, second, ..] if second < 0x200 || second == 0xdb8 => false,
        [0x3fff, second, ..] if second < 0x1000 => false,
        [first, ..] => (0x2000..0x4000).contains(&first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_addresses_are_known_in_every_form() {
        for text in [
            "127.0.0.1",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.100.100.200",
            "168.63.129.16",
            "192.0.0.192",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::7f00:1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2001::1",
            "2001:db8::1",
            "fe80::1",
            "fec0::1",
            "fc00::1",
            "fd00:ec2::254",
            "ff02::1",
            "100::1",
        ] {
            assert!(!is_public(text.parse().unwrap()), "{text}");
        }
        for text in [
            "1.1.1.1",
            "93.184.216.34",
            "172.32.0.1",
            "100.128.0.1",
            "2606:4700:4700::1111",
            "2001:4860:4860::8888",
            "::ffff:1.1.1.1",
            "64:ff9b::101:101",
        ] {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
    }
}
